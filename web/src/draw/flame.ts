// Flame graphs: where the frames of a tree lie, and their picture. Frames are numbered; frame 0 is the root, which is all
// of it, and a layout has an entry per frame in every column. Pure: trees in, rectangles out.
import { short } from "../base/format";
import type { Painter } from "./painter";
import { inkOn } from "./palette";

export interface FlameTree {
  /** Parent of each frame; parents come before their children, the first has -1. */
  parents: ArrayLike<number>;
  names: string[];
  kinds: string[];
}

export interface FlameLayout {
  /** Begin and end of each frame as shares of the whole, 0 to 1; equal where it weighs nothing. */
  begin: Float64Array;
  end: Float64Array;
  /** How far each frame is from the root. */
  depth: Uint32Array;
  /** How many rows there are. */
  deepest: number;
  /** Frames by depth, from left to right; those that weigh nothing are in none. */
  rows: number[][];
  /** Frames below each frame, heaviest first. */
  children: number[][];
}

/** Where frames lie: children inside their parents, the heaviest first. */
export function flameLayout(tree: FlameTree, weights: ArrayLike<number>): FlameLayout {
  const count = tree.parents.length;
  const children: number[][] = Array.from({ length: count }, () => []);
  for (let frame = 1; frame < count; frame++) children[tree.parents[frame] as number]?.push(frame);
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  const depth = new Uint32Array(count);
  const rows: number[][] = [];
  const whole = weights[0] || 1;
  end[0] = count && weights[0] ? 1 : 0;
  for (let frame = 0; frame < count; frame++) {
    const level = depth[frame] as number;
    let at = begin[frame] as number;
    const room = (end[frame] as number) - at;
    const below = (children[frame] as number[]).sort((a, b) => (weights[b] as number) - (weights[a] as number));
    // shares are of the parent where rounding made the children heavier than it
    const sum = below.reduce((total, child) => total + (weights[child] as number), 0);
    const scale = sum > 0 ? Math.min(1 / whole, room / sum) : 0;
    for (const child of below) {
      depth[child] = level + 1;
      begin[child] = at;
      at += (weights[child] as number) * scale;
      end[child] = at;
    }
  }
  for (let frame = 0; frame < count; frame++) {
    if ((end[frame] as number) <= (begin[frame] as number)) continue;
    const level = depth[frame] as number;
    while (rows.length <= level) rows.push([]);
    rows[level]?.push(frame);
  }
  for (const row of rows) row.sort((a, b) => (begin[a] as number) - (begin[b] as number));
  return { begin, end, depth, deepest: rows.length, rows, children };
}

/** Spans of a thread: where they begin and end, as shares of the whole, and how deep they are nested. */
export interface TimedFrames {
  begin: ArrayLike<number>;
  end: ArrayLike<number>;
  depth: ArrayLike<number>;
}

/** Where spans lie in the order of time, below a frame 0 that is all of it; and the parents that follow from it. */
export function timedLayout(spans: TimedFrames): FlameLayout & { parents: Int32Array } {
  const count = spans.begin.length + 1;
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  const depth = new Uint32Array(count);
  const rows: number[][] = [[0]];
  end[0] = 1;
  for (let frame = 1; frame < count; frame++) {
    begin[frame] = spans.begin[frame - 1] as number;
    end[frame] = Math.max(spans.end[frame - 1] as number, begin[frame] as number);
    const level = (spans.depth[frame - 1] as number) + 1;
    depth[frame] = level;
    while (rows.length <= level) rows.push([]);
    rows[level]?.push(frame);
  }
  for (const row of rows) row.sort((a, b) => (begin[a] as number) - (begin[b] as number));
  const parents = parentsIn(rows, begin);
  const children: number[][] = Array.from({ length: count }, () => []);
  for (const row of rows.slice(1)) for (const frame of row) children[parents[frame] as number]?.push(frame);
  return { begin, end, depth, deepest: rows.length, rows, children, parents };
}

/** The parent of each frame: the last one of the row above that begins before it; the root where there is none. */
function parentsIn(rows: number[][], begin: Float64Array): Int32Array {
  const parents = new Int32Array(begin.length).fill(-1);
  for (const [level, row] of rows.entries()) {
    if (level === 0) continue;
    const above = rows[level - 1] as number[];
    let at = 0; // rises with the begins of the row
    for (const frame of row) {
      while (at + 1 < above.length && (begin[above[at + 1] as number] as number) <= (begin[frame] as number)) at++;
      const candidate = above[at] ?? 0;
      parents[frame] = (begin[candidate] as number) <= (begin[frame] as number) ? candidate : 0;
    }
  }
  return parents;
}

/** What is on screen: shares of the whole from left to right, rows from the root. */
export interface FlameWindow {
  begin: number;
  end: number;
  /** Pixels that the root is scrolled away by. */
  scroll: number;
  rootAt: "top" | "bottom";
}

/** Height of a row, in pixels. */
export const FLAME_ROW = 19;
/** Narrower frames have no name, in pixels. */
const LEAST_NAMED = 26;
/** The shortest window, as a share of the whole. */
const SHORTEST = 1e-6;

/** The window of a frame: as wide as the frame, the root row where it was. */
export function windowOf(layout: FlameLayout, frame: number, window: FlameWindow): FlameWindow {
  return { ...window, begin: layout.begin[frame] as number, end: layout.end[frame] as number };
}

/** The window zoomed by a factor (below 1 = closer) around a share that stays where it is. */
export function zoomed(window: FlameWindow, factor: number, around: number): FlameWindow {
  const length = Math.min(1, Math.max((window.end - window.begin) * factor, SHORTEST));
  const position = (around - window.begin) / (window.end - window.begin);
  const begin = Math.min(Math.max(around - position * length, 0), 1 - length);
  return { ...window, begin, end: begin + length };
}

interface Size {
  width: number;
  height: number;
}

/** Frame at a pixel; -1 = none. */
export function frameAt(
  layout: FlameLayout,
  window: FlameWindow,
  { x, y }: { x: number; y: number },
  size: Size,
): number {
  const fromRoot = window.rootAt === "top" ? y : size.height - y;
  const row = layout.rows[Math.floor((fromRoot + window.scroll) / FLAME_ROW)];
  const share = window.begin + (x / size.width) * (window.end - window.begin);
  if (!row || share < 0 || share > 1) return -1;
  const frame = row[firstEndingAfter(row, layout, share)];
  return frame !== undefined && (layout.begin[frame] as number) <= share ? frame : -1;
}

export interface FlameLook {
  fill(frame: number): string;
  label(frame: number): string;
  /** Frames with a line of this colour around them; -1 = none. */
  outlined: { frame: number; colour: string }[];
}

interface FlameOnScreen {
  layout: FlameLayout;
  window: FlameWindow;
}

/** Draw what is in the window. Frames narrower than half a pixel are joined with their neighbours. */
export function paintFlame(painter: Painter, size: Size, shown: FlameOnScreen, look: FlameLook): void {
  const { layout, window } = shown;
  layout.rows.forEach((row, level) => {
    const y = topOf(level, window, size);
    if (y <= size.height && y + FLAME_ROW >= 0) paintRow(painter, size, { ...shown, look, row, y });
  });
  const pixelsPerShare = size.width / (window.end - window.begin);
  for (const { frame, colour } of look.outlined) {
    if (frame < 0) continue;
    const left = Math.max(((layout.begin[frame] as number) - window.begin) * pixelsPerShare, 0);
    const right = Math.min(((layout.end[frame] as number) - window.begin) * pixelsPerShare, size.width);
    if (right < left) continue;
    const y = topOf(layout.depth[frame] as number, window, size);
    const corners = [left, y, right, y, right, y + FLAME_ROW - 1, left, y + FLAME_ROW - 1, left, y];
    painter.polyline(corners, colour, 2);
  }
}

/** The y of the row of a level. */
function topOf(level: number, { scroll, rootAt }: FlameWindow, { height }: Size): number {
  const fromRoot = level * FLAME_ROW - scroll;
  return rootAt === "top" ? fromRoot : height - fromRoot - FLAME_ROW;
}

interface FlameRow extends FlameOnScreen {
  row: number[];
  y: number;
  look: FlameLook;
}

function paintRow(painter: Painter, size: Size, { row, y, layout, window, look }: FlameRow): void {
  const pixelsPerShare = size.width / (window.end - window.begin);
  let drawnTo = -1; // x
  for (let at = firstEndingAfter(row, layout, window.begin); at < row.length; at++) {
    const frame = row[at] as number;
    const left = ((layout.begin[frame] as number) - window.begin) * pixelsPerShare;
    if (left > size.width) break;
    const right = ((layout.end[frame] as number) - window.begin) * pixelsPerShare;
    if (right < drawnTo + 0.5) continue;
    const x = Math.max(left, 0, drawnTo);
    const width = Math.max(Math.min(right, size.width) - x, 0.5);
    const gap = width > 3 ? 1 : 0;
    painter.rect(x, y, Math.max(width - gap, 0.5), FLAME_ROW - 1, look.fill(frame));
    if (width > LEAST_NAMED) {
      const ink = inkOn(look.fill(frame));
      painter.text(x + 4, y + FLAME_ROW / 2, look.label(frame), ink, { size: 11, maxWidth: width - 8 });
    }
    drawnTo = x + width;
  }
}

/** The place in a row of the first frame that ends after a share of the whole; the length of the row when none does. */
function firstEndingAfter(row: number[], layout: FlameLayout, share: number): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((layout.end[row[middle] as number] as number) <= share) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Weight of the frames that match, each counted once: a match inside a match adds nothing. */
export function matchedWeight(tree: FlameTree, weights: ArrayLike<number>, matches: (frame: number) => boolean) {
  const inside = new Uint8Array(tree.parents.length);
  let weight = 0;
  let count = 0;
  for (let frame = 0; frame < tree.parents.length; frame++) {
    const parent = tree.parents[frame] as number;
    const hit = matches(frame);
    if (hit) count++;
    if (hit && !(parent >= 0 && inside[parent])) weight += weights[frame] as number;
    inside[frame] = hit || (parent >= 0 && inside[parent]) ? 1 : 0;
  }
  return { weight, count };
}

/** "v_add_f32 … · 12.3 K" */
export function flameLabel(name: string, weight: number): string {
  return `${name}  ${short(weight)}`;
}
