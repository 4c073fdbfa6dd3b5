// The rows of a timeline as the user wants them: some pinned to the top, some hidden, some moved, some filtered out.
import { matcher } from "../base/matcher";
import type { TimelineRow } from "../draw/track_layout";
import type { Arrangement, Move } from "../model/arrangement";

export interface ArrangedRows {
  pinned: TimelineRow[];
  rest: TimelineRow[];
  /** Rows that are hidden, and that the filter leaves out. */
  hiddenCount: number;
}

/** The name of a group of rows: its path, outermost first. */
export function groupName(path: string[], level = path.length - 1): string {
  return `▾ ${path.slice(0, level + 1).join(" › ")}`;
}

/** Where a row stands: its groups and itself. */
function places(row: TimelineRow): string[] {
  let known = placesOf.get(row);
  if (!known) {
    known = [];
    let name = "▾ ";
    for (const part of row.path) {
      name += known.length ? ` › ${part}` : part;
      known.push(name);
    }
    known.push(row.key);
    placesOf.set(row, known);
  }
  return known;
}

const placesOf = new WeakMap<TimelineRow, string[]>();

export function arranged(rows: TimelineRow[], { pinned, hidden, moves }: Arrangement, filter: string): ArrangedRows {
  if (!pinned.length && !hidden.length && !moves.length && !filter) return { pinned: [], rest: rows, hiddenCount: 0 };
  const pins = new Map(pinned.map((key, place) => [key, place]));
  const gone = new Set(hidden);
  const wanted = filter ? matcher(filter) : null;
  const top: TimelineRow[] = [];
  const rest: TimelineRow[] = [];
  let hiddenCount = 0;
  for (const row of rows) {
    // What was pinned stays, also when its group is hidden.
    if (pins.has(row.key) && !gone.has(row.key))
      top.push({ ...row, path: [], label: [...row.path, row.label].filter(Boolean).join(" ") });
    else if (gone.size && places(row).some((place) => gone.has(place))) hiddenCount++;
    else if (wanted && !wanted.test([...row.path, row.label].join(" "))) hiddenCount++;
    else rest.push(row);
  }
  top.sort((a, b) => (pins.get(a.key) ?? 0) - (pins.get(b.key) ?? 0));
  return { pinned: top, rest: moves.length ? moved(rest, moves) : rest, hiddenCount };
}

interface Node {
  children: Map<string, Node>;
  row: TimelineRow | null;
}

const node = (row: TimelineRow | null = null): Node => ({ children: new Map(), row });

/** Rows after moves of them and of their groups: every one stays inside its parent. */
function moved(rows: TimelineRow[], moves: Move[]): TimelineRow[] {
  const root = node();
  const nodes = new Map([["", root]]);
  for (const row of rows) {
    let parent = root;
    for (const place of places(row)) {
      let child = parent.children.get(place);
      if (!child) {
        child = node(place === row.key ? row : null);
        parent.children.set(place, child);
        nodes.set(place, child);
      }
      parent = child;
    }
  }
  for (const { parent, child, before } of moves) {
    const inside = nodes.get(parent);
    const taken = inside?.children.get(child);
    if (!inside || !taken || child === before) continue;
    const order = [...inside.children].filter(([name]) => name !== child);
    const at = before === null ? -1 : order.findIndex(([name]) => name === before);
    order.splice(at < 0 ? order.length : at, 0, [child, taken]);
    inside.children = new Map(order);
  }
  const flat: TimelineRow[] = [];
  const visit = (at: Node) => {
    if (at.row) flat.push(at.row);
    for (const child of at.children.values()) visit(child);
  };
  visit(root);
  return flat;
}

/** How many groups two rows have in common: the level at which the places of the rows differ. */
function commonLevels(own: string[], other: string[]): number {
  let level = 0;
  while (level < own.length && own[level] === other[level]) level++;
  return level;
}

/** The rows that another one comes to stand beside: `to`, or the outermost group around it that `from` is not in. */
export function rowsBeside(from: TimelineRow, to: TimelineRow, rows: TimelineRow[]): TimelineRow[] {
  const other = places(to);
  const level = commonLevels(places(from), other);
  return rows.filter((row) => level < other.length && places(row)[level] === other[level]);
}

/** The move that brings a row, or the group of it at `level`, beside another row; null = they are inside each other. */
export function moveOf(
  from: TimelineRow,
  level: number,
  to: TimelineRow,
  isAfter: boolean,
  rows: TimelineRow[],
): Move | null {
  const [own, other] = [places(from), places(to)];
  const first = commonLevels(own, other);
  if (first > level || first >= own.length || first >= other.length) return null;
  const child = own[first] as string;
  let before: string | null = other[first] as string;
  if (isAfter) before = nextSibling(rows, own.slice(0, first), before, child);
  return { parent: own[first - 1] ?? "", child, before };
}

/** The move of a row (or group) by one place; null = it stands at the edge. */
export function stepOf(row: TimelineRow, level: number, by: 1 | -1, rows: TimelineRow[]): Move | null {
  const own = places(row);
  const above = own.slice(0, level);
  const siblings = siblingsIn(rows, above);
  const child = own[level] as string;
  const at = siblings.indexOf(child);
  if (at < 0 || (by < 0 ? at === 0 : at === siblings.length - 1)) return null;
  const before = by < 0 ? (siblings[at - 1] as string) : (siblings[at + 2] ?? null);
  return { parent: above.at(-1) ?? "", child, before };
}

function siblingsIn(rows: TimelineRow[], above: string[]): string[] {
  const found = new Set<string>();
  for (const row of rows) {
    const at = places(row);
    if (above.every((place, level) => at[level] === place)) found.add(at[above.length] as string);
  }
  return [...found];
}

function nextSibling(rows: TimelineRow[], above: string[], of: string, without: string): string | null {
  const siblings = siblingsIn(rows, above).filter((name) => name !== without);
  return siblings[siblings.indexOf(of) + 1] ?? null;
}
