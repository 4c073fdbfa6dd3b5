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

/** A row of a timeline, or one of its groups: `level` counts them from the outside; as many as it has = the row itself. */
export interface Place {
  row: TimelineRow;
  level: number;
}

const GROUP_MARK = "▾ ";
const GROUP_SEPARATOR = " › ";

/**
 * The name of a group of rows in a stored arrangement: its path, outermost first, as `▾ SE 0 › SIMD 1`. Rows are named by
 * their keys there.
 */
export function groupName(path: string[], level = path.length - 1): string {
  return GROUP_MARK + path.slice(0, level + 1).join(GROUP_SEPARATOR);
}

/** The names of a row's groups, outermost first, and of itself: entry n is its place at level n. */
function namesOf(row: TimelineRow): string[] {
  let names = namesOfRows.get(row);
  if (!names) {
    names = [...row.path.map((_, level) => groupName(row.path, level)), row.key];
    namesOfRows.set(row, names);
  }
  return names;
}

const namesOfRows = new WeakMap<TimelineRow, string[]>();

const fullName = (row: TimelineRow) => [...row.path, row.label].filter(Boolean).join(" ");

/** The rows without hidden ones and those whose names the filter does not match, moved; pinned ones by themselves. */
export function arranged(rows: TimelineRow[], arrangement: Arrangement, filter: string): ArrangedRows {
  const { pinned, hidden, moves } = arrangement;
  if (!pinned.length && !hidden.length && !moves.length && !filter) return { pinned: [], rest: rows, hiddenCount: 0 };
  const pinPlaces = new Map(pinned.map((key, place) => [key, place]));
  const hiddenNames = new Set(hidden);
  const matches = filter ? matcher(filter) : null;
  const isHidden = (row: TimelineRow) =>
    (hiddenNames.size > 0 && namesOf(row).some((name) => hiddenNames.has(name))) ||
    (matches !== null && !matches.test([...row.path, row.label].join(" ")));
  const pinnedRows: TimelineRow[] = [];
  const rest: TimelineRow[] = [];
  let hiddenCount = 0;
  for (const row of rows) {
    // What was pinned stays, also when its group is hidden.
    if (pinPlaces.has(row.key) && !hiddenNames.has(row.key)) {
      pinnedRows.push({ ...row, path: [], label: fullName(row) });
    } else if (isHidden(row)) hiddenCount++;
    else rest.push(row);
  }
  pinnedRows.sort((a, b) => (pinPlaces.get(a.key) ?? 0) - (pinPlaces.get(b.key) ?? 0));
  return { pinned: pinnedRows, rest: moves.length ? moved(rest, moves) : rest, hiddenCount };
}

/** A group with what is in it, or a row, by names. */
interface Node {
  children: Map<string, Node>;
  row: TimelineRow | null;
}

/** Rows after moves of them and of their groups: every one stays inside its parent. */
function moved(rows: TimelineRow[], moves: Move[]): TimelineRow[] {
  const { root, nodes } = treeOf(rows);
  for (const { parent, child, before } of moves) {
    const group = nodes.get(parent);
    const taken = group?.children.get(child);
    if (!group || !taken || child === before) continue; // it is hidden, or not there
    const order = [...group.children].filter(([name]) => name !== child);
    const at = before === null ? -1 : order.findIndex(([name]) => name === before);
    order.splice(at < 0 ? order.length : at, 0, [child, taken]);
    group.children = new Map(order);
  }
  const flat: TimelineRow[] = [];
  const visit = (node: Node) => {
    if (node.row) flat.push(node.row);
    for (const child of node.children.values()) visit(child);
  };
  visit(root);
  return flat;
}

/** Rows below their groups, and all nodes by name; that of the root is empty. */
function treeOf(rows: TimelineRow[]): { root: Node; nodes: Map<string, Node> } {
  const root: Node = { children: new Map(), row: null };
  const nodes = new Map([["", root]]);
  for (const row of rows) {
    let parent = root;
    for (const name of namesOf(row)) {
      let child = parent.children.get(name);
      if (!child) {
        child = { children: new Map(), row: name === row.key ? row : null };
        parent.children.set(name, child);
        nodes.set(name, child);
      }
      parent = child;
    }
  }
  return { root, nodes };
}

/** How many groups two rows have in common: the level at which their names differ. */
function commonLevels(own: string[], other: string[]): number {
  let level = 0;
  while (level < own.length && own[level] === other[level]) level++;
  return level;
}

/** The rows that another one comes to stand beside: `to`, or the outermost group around it that `from` is not in. */
export function rowsBeside(from: TimelineRow, to: TimelineRow, rows: TimelineRow[]): TimelineRow[] {
  const names = namesOf(to);
  const level = commonLevels(namesOf(from), names);
  return rows.filter((row) => level < names.length && namesOf(row)[level] === names[level]);
}

/** Where something is dropped: before or behind a row. */
export interface Target {
  row: TimelineRow;
  isAfter: boolean;
}

/**
 * The move that brings a row or group beside another row. Both stay in the groups that they have in common: where one is
 * in another group, the groups change places. null = they are inside each other.
 */
export function moveOf({ row, level }: Place, target: Target, rows: TimelineRow[]): Move | null {
  const [own, other] = [namesOf(row), namesOf(target.row)];
  const common = commonLevels(own, other);
  if (common > level || common >= own.length || common >= other.length) return null;
  const child = own[common] as string;
  const sibling = other[common] as string;
  const before = target.isAfter ? siblingAfter(rows, own.slice(0, common), { sibling, without: child }) : sibling;
  return { parent: own[common - 1] ?? "", child, before };
}

/** The move of a row or group by one place up (-1) or down (1); null = it stands at the edge. */
export function stepOf({ row, level }: Place, by: 1 | -1, rows: TimelineRow[]): Move | null {
  const own = namesOf(row);
  const above = own.slice(0, level);
  const siblings = siblingsIn(rows, above);
  const child = own[level] as string;
  const at = siblings.indexOf(child);
  if (at < 0 || (by < 0 ? at === 0 : at === siblings.length - 1)) return null;
  const before = by < 0 ? (siblings[at - 1] as string) : (siblings[at + 2] ?? null);
  return { parent: above.at(-1) ?? "", child, before };
}

/** The names of what stands in a group, in order; `above` are the names of it and the groups around it. */
function siblingsIn(rows: TimelineRow[], above: string[]): string[] {
  const siblings = new Set<string>();
  for (const row of rows) {
    const names = namesOf(row);
    if (above.every((name, level) => names[level] === name)) siblings.add(names[above.length] as string);
  }
  return [...siblings];
}

/** What follows a sibling once another one (`without`) was taken out; null = nothing does. */
function siblingAfter(
  rows: TimelineRow[],
  above: string[],
  { sibling, without }: { sibling: string; without: string },
): string | null {
  const siblings = siblingsIn(rows, above).filter((name) => name !== without);
  return siblings[siblings.indexOf(sibling) + 1] ?? null;
}
