// Where arrows run beside the listing. All arrows to one row share a trunk: a vertical line in a lane of its own, with a
// tick to every row they come from. Short trunks lie nearest to the text; a trunk takes the nearest lane that is free
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
  lane: number;
  edges: Edge[];
}

/** Trunks in the order of their heads. */
export function trunksOf(edges: Edge[]): Trunk[] {
  const byHead = new Map<number, Trunk>();
  for (const edge of edges) {
    const trunk = byHead.get(edge.to) ?? { to: edge.to, top: edge.to, bottom: edge.to, lane: 0, edges: [] };
    trunk.top = Math.min(trunk.top, edge.from);
    trunk.bottom = Math.max(trunk.bottom, edge.from);
    trunk.edges.push(edge);
    byHead.set(edge.to, trunk);
  }
  const trunks = [...byHead.values()].sort((a, b) => a.to - b.to);
  takeLanes(trunks);
  return trunks;
}

function takeLanes(trunks: Trunk[]): void {
  const lanes: Trunk[][] = []; // trunks of a lane do not overlap, and are in the order of rows
  const shortestFirst = [...trunks].sort((a, b) => a.bottom - a.top - (b.bottom - b.top) || a.top - b.top);
  for (const trunk of shortestFirst) {
    let lane = lanes.findIndex((taken) => isFree(taken, trunk));
    if (lane < 0) lane = lanes.push([]) - 1;
    const taken = lanes[lane] as Trunk[];
    taken.splice(firstBelow(taken, trunk.top), 0, trunk);
    trunk.lane = lane;
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

const LANE_WIDTH = 6;
const HEAD_ROOM = 12;

/** Pixels that all lanes need. */
export function lanesWidth(trunks: Trunk[]): number {
  const lanes = trunks.reduce((most, { lane }) => Math.max(most, lane + 1), 1);
  return HEAD_ROOM + 4 + lanes * LANE_WIDTH;
}

/** Where the trunk of a lane stands, from the left; lanes that do not fit share the outer two thirds. */
export function laneX(lane: number, width: number): number {
  const fitting = Math.max(1, Math.floor((width - HEAD_ROOM - 4) / LANE_WIDTH));
  const third = Math.floor(fitting / 3);
  const shown = lane < fitting ? lane : third + ((lane - fitting) % Math.max(1, fitting - third));
  return width - HEAD_ROOM - shown * LANE_WIDTH;
}

/** The trunk and the edge of it at a place; `y` in rows, so that row 3 reaches from 3 to 4. */
export function hitAt(trunks: Trunk[], width: number, x: number, y: number): { trunk: Trunk; edge: Edge } | null {
  let hit: { trunk: Trunk; edge: Edge; distance: number } | null = null;
  for (const trunk of trunks) {
    if (y < trunk.top || y > trunk.bottom + 1) continue;
    const at = laneX(trunk.lane, width);
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
