// Where the rows of a timeline stand: groups with headings, rows of equal height, strips of tracks inside rows.
import type { Layer } from "../model/layers";
import type { Shares } from "./shares";
import type { Stalled } from "./stalled";

/** One track inside a row. */
export interface Strip {
  layer: Layer;
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

export const HEADING = 18;
/** Strips of fixed height are at least so high; thinner rows than twice that have none. */
const LEAST_FIXED = 2;
const FIXED_SHARE = 0.4;
/** Rows below this height show states, not kinds. */
export const THIN = 8;

/** The key of the group of a row at a level. */
function groupKey(path: string[], level: number): string {
  return path.slice(0, level + 1).join("\u0000");
}

export function layOutTracks(rows: TimelineRow[], rowHeight: number, folded: ReadonlySet<string>): TrackLayout {
  const placed: PlacedRow[] = [];
  const groups: PlacedGroup[] = [];
  const open: PlacedGroup[] = [];
  let y = 0;
  let columns = 0;
  const close = (level: number) => {
    for (const group of open.splice(level)) group.height = y - group.y;
  };
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as TimelineRow;
    columns = Math.max(columns, row.path.length - 1);
    let same = 0;
    while (same < open.length && same < row.path.length && open[same]?.key === groupKey(row.path, same)) same++;
    close(same);
    let fold = -1;
    for (let level = same; level < row.path.length && fold < 0; level++) {
      const key = groupKey(row.path, level);
      const group = { key, label: row.path[level] as string, level, y, height: 0, isFolded: folded.has(key) };
      groups.push(group);
      open.push(group);
      if (level === 0) y += HEADING;
      if (group.isFolded) fold = level;
    }
    if (fold < 0) {
      placed.push(placeRow(row, y, rowHeight, null));
      y += rowHeight;
      i++;
      continue;
    }
    const key = groupKey(row.path, fold);
    const members: TimelineRow[] = [];
    for (; i < rows.length && groupKey((rows[i] as TimelineRow).path, fold) === key; i++) {
      members.push(rows[i] as TimelineRow);
    }
    const strips = members.flatMap((member) => member.strips.filter((s) => s.fixed === undefined && s.track >= 0));
    const together = { key, label: `${members.length} tracks`, path: row.path.slice(0, fold + 1), strips };
    const top = fold === 0 ? y - HEADING : y;
    const tall = fold === 0 ? HEADING : Math.max(rowHeight, 12);
    placed.push(placeRow(together, top, tall, key));
    y = top + tall;
  }
  close(0);
  return { rows: placed, groups, height: y, columns };
}

function placeRow(row: TimelineRow, y: number, height: number, folded: string | null): PlacedRow {
  const gap = height >= 6 ? 1 : 0;
  const most = Math.max(LEAST_FIXED, Math.floor(height * FIXED_SHARE));
  const fixedHeight = (strip: Strip) => Math.min(strip.fixed ?? 0, most);
  const isThin = height < THIN && row.strips.some((strip) => strip.thin);
  const strips = row.strips
    .filter((strip) => strip.fixed === undefined || (height >= 2 * LEAST_FIXED && !isThin))
    .map(({ stalled, ...strip }) =>
      isThin && strip.thin ? { ...strip, instead: strip.thin } : { ...strip, ...(stalled ? { stalled } : {}) },
    );
  const fixed = strips.reduce((sum, strip) => sum + fixedHeight(strip), 0);
  const free = strips.filter((strip) => strip.fixed === undefined).length;
  const share = free ? Math.max(0, height - gap - fixed) / free : 0;
  let top = y;
  const placed = strips.map((strip) => {
    const tall = strip.fixed === undefined ? share : fixedHeight(strip);
    const at = { ...strip, y: top, height: tall, row };
    top += tall;
    return at;
  });
  return { row, y, height, strips: placed, folded };
}

/** The rows that reach into a range of y: the first, and one past the last. */
export function rowsBetween(layout: TrackLayout, top: number, bottom: number): [number, number] {
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
