// Spans of tracks as pixels: one row of pixels per track (a few where spans may overlap). Cost follows pixels and spans on
// screen, never the length of the trace.
import type { Piece } from "../model/levels";
import type { Range } from "../model/selection";
import type { Tile } from "../model/tile";

/** Rows of pixels per track where overlapping spans have sub-tracks. */
export const SUB_ROWS = 4;
/** Single spans at least as wide get a gap behind them, so that neighbours of one colour can be told apart. */
const WIDTH_WITH_GAP = 4;
/** Narrower ones, where they are to be told apart too, are darker where they start. */
const WIDTH_WITH_EDGE = 2;

export interface Raster {
  columns: number;
  /** 0xAABBGGRR; 0 = nothing. */
  pixels: Uint32Array;
}

/** The pixels of kinds, found when first needed: layers can have thousands of kinds. */
export class KindColours {
  readonly table = new Uint32Array(1 << 16);

  constructor(private look: (kind: number) => number) {}

  /** Forget all colours: the theme, or what is lit up, may have changed. */
  reset(look: (kind: number) => number): this {
    this.look = look;
    this.table.fill(0);
    return this;
  }

  find(kind: number): number {
    const colour = this.look(kind);
    this.table[kind] = colour;
    return colour;
  }
}

let spare = new Uint32Array(0);

/** An empty raster. Its memory is that of the last one: use it before the next one is made. */
export function raster(columns: number, rows: number): Raster {
  const size = columns * rows;
  if (spare.length < size) spare = new Uint32Array(Math.ceil(size * 1.25));
  else spare.fill(0, 0, size);
  return { columns, pixels: spare.subarray(0, size) };
}

/** The spans of one track, into the `rows` rows of a raster that start with `row`; deeper spans leave rows above free. */
export function rasterTrack(
  target: Raster,
  row: number,
  rows: number,
  pieces: Piece<Tile>[],
  track: number,
  window: Range,
  colours: KindColours,
  hasEdges = false,
): void {
  const { columns, pixels } = target;
  const { table } = colours;
  const scale = columns / (window.end - window.begin);
  const origin = window.begin;
  for (const { tile, begin: from, end: to } of pieces) {
    const { begin, end, kind, count, depth } = tile;
    const least = Math.max(Math.floor((from - origin) * scale), 0);
    const most = Math.min(Math.ceil((to - origin) * scale), columns);
    if (least >= most) continue;
    const last = tile.last(track);
    for (let i = tile.reaching(track, Math.max(origin, from)); i < last; i++) {
      let first = Math.floor(((begin[i] as number) - origin) * scale);
      if (first >= most) break;
      let behind = Math.round(((end[i] as number) - origin) * scale);
      if (behind <= first) behind = first + 1;
      if (behind <= least) continue;
      let isEdged = false;
      if (count[i] === 1) {
        if (behind - first >= WIDTH_WITH_GAP) behind--;
        else isEdged = hasEdges && behind - first >= WIDTH_WITH_EDGE && first >= least;
      }
      if (first < least) first = least;
      if (behind > most) behind = most;
      const colour = table[kind[i] as number] || colours.find(kind[i] as number);
      const top = rows > 1 ? Math.min(depth[i] as number, SUB_ROWS - 1) * Math.ceil(rows / SUB_ROWS) : 0;
      for (let r = row + top; r < row + rows; r++) {
        const offset = r * columns;
        // Most spans are a few pixels wide: a call costs more than writing them.
        if (behind - first > 24) pixels.fill(colour, offset + first, offset + behind);
        else for (let x = first; x < behind; x++) pixels[offset + x] = colour;
        if (isEdged) pixels[offset + first] = darker(colour);
      }
    }
  }
}

/** Half as light. */
const darker = (pixel: number) => (0xff000000 | ((pixel >>> 1) & 0x7f7f7f)) >>> 0;

/** Intervals in one colour: the lifetimes of waves behind their instructions. */
export function rasterStretches(
  target: Raster,
  row: number,
  rows: number,
  begins: ArrayLike<number>,
  ends: ArrayLike<number>,
  window: Range,
  colour: number,
): void {
  const { columns, pixels } = target;
  const scale = columns / (window.end - window.begin);
  for (let i = 0; i < begins.length; i++) {
    const first = Math.max(0, Math.floor(((begins[i] as number) - window.begin) * scale));
    const behind = Math.min(columns, Math.ceil(((ends[i] as number) - window.begin) * scale));
    if (behind <= first) continue;
    for (let r = row; r < row + rows; r++) pixels.fill(colour, r * columns + first, r * columns + behind);
  }
}
