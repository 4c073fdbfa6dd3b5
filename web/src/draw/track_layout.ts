// Where the rows of a timeline stand: groups with headings, rows of equal height, strips of tracks inside rows.
import type { Layer } from "../model/layers";
import type { Shares } from "./shares";
import type { Stalled } from "./stalled";

/** One track inside a row. */
export interface Strip {
  layer: Layer;
  /** Its number in the layer; -1 = it has none, only `shares`. */
  track: number;
  /** Height in pixels, less in thin rows; absent = what is left, shared equally. */
  fixed?: number;
  /** Intervals drawn behind the spans, such as the lifetimes of waves. */
  behind?: { begins: ArrayLike<number>; ends: ArrayLike<number> };
  /** How busy it is, in place of its spans until they can be told apart; where there is no track (-1), at every zoom. */
  shares?: Shares;
  /** Drawn in place of its spans: the same time as another layer tells it. */
  instead?: { layer: Layer; track: number };
  /** Drawn alone in rows that are too thin for kinds: there they would be confetti. */
  thin?: { layer: Layer; track: number };
  /** The stalled part of its spans. */
  stalled?: Stalled;
}

/** The layers that are needed to draw a placed strip: nobody waits for spans that another layer is drawn for. */
export function layersOfStrip({ layer, instead, stalled }: Strip): Layer[] {
  return [instead?.layer ?? layer, ...(stalled?.by ? [stalled.by] : [])];
}

export interface TimelineRow {
  key: string;
  label: string;
  /** Groups around it, outermost first. The outermost has a heading of its own, inner ones stand in columns. */
  path: string[];
  strips: Strip[];
}

export interface PlacedStrip extends Strip {
  y: number;
  height: number;
  row: TimelineRow;
}

export interface PlacedRow {
  row: TimelineRow;
  y: number;
  height: number;
  strips: PlacedStrip[];
  /** The group that it stands for when that is folded. */
  folded: string | null;
}

export interface PlacedGroup {
  key: string;
  label: string;
  /** 0 = with a heading, 1 and more = in a column. */
  level: number;
  y: number;
  height: number;
  isFolded: boolean;
}

export interface TrackLayout {
  rows: PlacedRow[];
  groups: PlacedGroup[];
  height: number;
  /** How many columns of inner groups there are. */
  columns: number;
}

/** Height of the heading of an outermost group, in pixels. */
export const HEADING = 18;
/** Strips of fixed height are at least so high; thinner rows than twice that have none. */
const LEAST_FIXED = 2;
/** Of a row, the share of its height that a strip of fixed height takes at most. */
const FIXED_SHARE = 0.4;
/** Rows below this height show states, not kinds. */
export const THIN = 8;
/** The row of a folded inner group is at least so high: its label is read. */
const LEAST_FOLDED = 12;

/** The key of the group of a row at a level: the names from the outermost group to it. */
export function groupKey(path: string[], level: number): string {
  return path.slice(0, level + 1).join("\u0000");
}

/** Where rows and their groups stand, from the top down. `folded` has keys of groups (`groupKey`). */
export function layOutTracks(rows: TimelineRow[], rowHeight: number, folded: ReadonlySet<string>): TrackLayout {
  const placed: PlacedRow[] = [];
  const groups = new OpenGroups();
  let y = 0;
  let columns = 0; // rows inside of folded groups need none
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as TimelineRow;
    columns = Math.max(columns, row.path.length - 1);
    const opened = groups.enter(row.path, y, folded);
    y = opened.y;
    if (opened.foldedLevel === null) {
      placed.push(placeRow(row, y, rowHeight, null));
      y += rowHeight;
      i++;
      continue;
    }
    const level = opened.foldedLevel;
    const key = groupKey(row.path, level);
    const members = membersFrom(rows, i, level);
    i += members.length;
    // a folded outermost group is as high as its heading, and stands where that does
    const top = level === 0 ? y - HEADING : y;
    const height = level === 0 ? HEADING : Math.max(rowHeight, LEAST_FOLDED);
    placed.push(placeRow(foldedRow(members, key, level), top, height, key));
    y = top + height;
  }
  groups.close(0, y);
  return { rows: placed, groups: groups.all, height: y, columns };
}

/** The groups around the row that is placed next, outermost first, and all that were placed before. */
class OpenGroups {
  readonly all: PlacedGroup[] = [];
  private readonly open: PlacedGroup[] = [];

  /** Closes the groups that a row is not in and opens those that it is in, down to one that is folded. */
  enter(path: string[], y: number, folded: ReadonlySet<string>): { y: number; foldedLevel: number | null } {
    let level = 0;
    while (level < this.open.length && level < path.length && this.open[level]?.key === groupKey(path, level)) level++;
    this.close(level, y);
    let top = y;
    for (; level < path.length; level++) {
      const key = groupKey(path, level);
      const group = { key, label: path[level] as string, level, y: top, height: 0, isFolded: folded.has(key) };
      this.all.push(group);
      this.open.push(group);
      if (level === 0) top += HEADING;
      if (group.isFolded) return { y: top, foldedLevel: level };
    }
    return { y: top, foldedLevel: null };
  }

  /** Groups from a level on end at y. */
  close(level: number, y: number): void {
    for (const group of this.open.splice(level)) group.height = y - group.y;
  }
}

/** The rows from one on that are in its group at a level: they stand together. */
function membersFrom(rows: TimelineRow[], first: number, level: number): TimelineRow[] {
  const key = groupKey((rows[first] as TimelineRow).path, level);
  let end = first + 1;
  while (end < rows.length && groupKey((rows[end] as TimelineRow).path, level) === key) end++;
  return rows.slice(first, end);
}

/** One row for all tracks of a folded group; strips of fixed height, and those without a track, are left out. */
function foldedRow(members: TimelineRow[], key: string, level: number): TimelineRow {
  const strips = members.flatMap((member) => member.strips.filter((s) => s.fixed === undefined && s.track >= 0));
  const path = members[0]?.path.slice(0, level + 1) ?? [];
  return { key, label: `${members.length} tracks`, path, strips };
}

/** A row with its strips below each other: those of fixed height as high as they may be, the others share the rest. */
function placeRow(row: TimelineRow, y: number, height: number, folded: string | null): PlacedRow {
  const gap = height >= 6 ? 1 : 0; // below the row
  const mostFixed = Math.max(LEAST_FIXED, Math.floor(height * FIXED_SHARE));
  const fixedHeight = (strip: Strip) => Math.min(strip.fixed ?? 0, mostFixed);
  const strips = stripsIn(row, height);
  const fixedTotal = strips.reduce((sum, strip) => sum + fixedHeight(strip), 0);
  const freeCount = strips.filter((strip) => strip.fixed === undefined).length;
  const share = freeCount ? Math.max(0, height - gap - fixedTotal) / freeCount : 0;
  let top = y;
  const placed = strips.map((strip) => {
    const stripHeight = strip.fixed === undefined ? share : fixedHeight(strip);
    const place = { ...strip, y: top, height: stripHeight, row };
    top += stripHeight;
    return place;
  });
  return { row, y, height, strips: placed, folded };
}

/** The strips that a row of this height shows: a thin one has states in place of kinds, alone and without a stalled part. */
function stripsIn({ strips }: TimelineRow, height: number): Strip[] {
  const isThin = height < THIN && strips.some((strip) => strip.thin);
  if (!isThin) return strips.filter((strip) => strip.fixed === undefined || height >= 2 * LEAST_FIXED);
  const main = strips.filter((strip) => strip.fixed === undefined);
  return main.map((strip) => {
    if (!strip.thin) return strip;
    const { stalled: _, ...others } = strip;
    return { ...others, instead: strip.thin };
  });
}

/** The rows that reach into a range of y: the first, and one past the last. */
export function rowsBetween(layout: TrackLayout, top: number, bottom: number): [first: number, end: number] {
  const { rows } = layout;
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle] as PlacedRow;
    if (row.y + row.height <= top) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while (last < rows.length && (rows[last] as PlacedRow).y < bottom) last++;
  return [low, last];
}

/** The strip at a y; null on headings. The gap below a row belongs to it: in thin rows it would be much of the row. */
export function stripAt(layout: TrackLayout, y: number): PlacedStrip | null {
  const [first, last] = rowsBetween(layout, y, y + 1);
  for (let i = first; i < last; i++) {
    const row = layout.rows[i] as PlacedRow;
    for (const strip of row.strips) {
      if (y >= strip.y && y < strip.y + Math.max(strip.height, 1)) return strip;
    }
    if (y >= row.y && y < row.y + row.height) return row.strips.at(-1) ?? null;
  }
  return null;
}
