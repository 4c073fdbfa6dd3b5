// Where arrows run beside the listing. All arrows to one row share a trunk: a vertical line in a rail of its own, with a
// tick to every row they come from. Short trunks lie nearest to the text; a trunk takes the nearest rail that is free
// over its whole length.

export interface Edge {
  /** Places in the list: where the arrow begins and where its head is. */
  from: number;
  to: number;
  /** Number of the arrow among those that were given. */
  arrow: number;
}

export interface Trunk {
  /** Where its head is. */
  to: number;
  top: number;
  bottom: number;
  rail: number;
  edges: Edge[];
}

/** Trunks in the order of their heads. */
export function trunksOf(edges: Edge[]): Trunk[] {
  const byHead = new Map<number, Trunk>();
  for (const edge of edges) {
    const trunk = byHead.get(edge.to) ?? { to: edge.to, top: edge.to, bottom: edge.to, rail: 0, edges: [] };
    trunk.top = Math.min(trunk.top, edge.from);
    trunk.bottom = Math.max(trunk.bottom, edge.from);
    trunk.edges.push(edge);
    byHead.set(edge.to, trunk);
  }
  const trunks = [...byHead.values()].sort((a, b) => a.to - b.to);
  takeRails(trunks);
  return trunks;
}

function takeRails(trunks: Trunk[]): void {
  const rails: Trunk[][] = []; // trunks of a rail do not overlap, and are in the order of rows
  const shortestFirst = [...trunks].sort((a, b) => a.bottom - a.top - (b.bottom - b.top) || a.top - b.top);
  for (const trunk of shortestFirst) {
    let rail = rails.findIndex((taken) => isFree(taken, trunk));
    if (rail < 0) rail = rails.push([]) - 1;
    const taken = rails[rail] as Trunk[];
    taken.splice(firstBelow(taken, trunk.top), 0, trunk);
    trunk.rail = rail;
  }
}

function isFree(taken: Trunk[], trunk: Trunk): boolean {
  const below = firstBelow(taken, trunk.top);
  const [above, next] = [taken[below - 1], taken[below]];
  return (above === undefined || above.bottom < trunk.top) && (next === undefined || next.top > trunk.bottom);
}

/** The place of the first trunk that begins at or below a row. */
function firstBelow(taken: Trunk[], row: number): number {
  let [low, high] = [0, taken.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle] as Trunk).top < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

const RAIL_WIDTH = 6;
const HEAD_ROOM = 12;

/** Pixels that all rails need. */
export function railsWidth(trunks: Trunk[]): number {
  const rails = trunks.reduce((most, { rail }) => Math.max(most, rail + 1), 1);
  return HEAD_ROOM + 4 + rails * RAIL_WIDTH;
}

/** Where the trunk of a rail stands, from the left; rails that do not fit share the outer two thirds. */
export function railX(rail: number, width: number): number {
  const fitting = Math.max(1, Math.floor((width - HEAD_ROOM - 4) / RAIL_WIDTH));
  const third = Math.floor(fitting / 3);
  const shown = rail < fitting ? rail : third + ((rail - fitting) % Math.max(1, fitting - third));
  return width - HEAD_ROOM - shown * RAIL_WIDTH;
}

/** The trunk and the edge of it at a place; `y` in rows, so that row 3 reaches from 3 to 4. */
export function hitAt(trunks: Trunk[], width: number, x: number, y: number): { trunk: Trunk; edge: Edge } | null {
  let hit: { trunk: Trunk; edge: Edge; distance: number } | null = null;
  for (const trunk of trunks) {
    if (y < trunk.top || y > trunk.bottom + 1) continue;
    const at = railX(trunk.rail, width);
    const onTick = trunk.edges.find((edge) => Math.floor(y) === edge.from && x >= at - 3);
    const isAtHead = Math.floor(y) === trunk.to && x >= at - 3;
    const distance = onTick || isAtHead ? 1 : Math.abs(x - at);
    if (distance > 3 || (hit && hit.distance <= distance)) continue;
    const nearest = trunk.edges.reduce((best, edge) =>
      Math.abs(edge.from + 0.5 - y) < Math.abs(best.from + 0.5 - y) ? edge : best,
    );
    hit = { trunk, edge: onTick ?? nearest, distance };
  }
  return hit;
}
