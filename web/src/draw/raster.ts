// Spans of tracks as pixels: tiles of spans in, rows of colours out, one row per track (a few where spans may overlap).
// Time for it grows with the pixels and the spans on screen, not with the length of the trace: levels of detail
// (model/levels.ts) join what is shorter than a pixel.
import type { Piece } from "../model/levels";
import type { Range } from "../model/selection";
import type { Tile } from "../model/tile";

/** Rows of pixels per track where overlapping spans have sub-tracks. */
export const SUB_ROWS = 4;
/** Single spans of at least so many pixels get a gap of one behind them, so that neighbours of one colour can be told apart. */
const WIDTH_WITH_GAP = 4;
/** Narrower ones of at least so many, where they are to be told apart too, are darker where they start. */
const WIDTH_WITH_EDGE = 2;

export interface Raster {
  columns: number;
  /** 0xAABBGGRR; 0 = nothing. */
  pixels: Uint32Array;
}

/** The pixel of each kind, computed when it is first needed: layers can have thousands of kinds. */
export class KindColours {
  /** By kind, which has 16 bits in a tile; 0 = not computed yet. Loops read it themselves: a call per span takes longer. */
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

/** An empty raster. Its memory is that of the last one, which is drawn over: use it before the next one is made. */
export function raster(columns: number, rows: number): Raster {
  const size = columns * rows;
  if (spare.length < size) spare = new Uint32Array(Math.ceil(size * 1.25));
  else spare.fill(0, 0, size);
  return { columns, pixels: spare.subarray(0, size) };
}

/** The rows of pixels that one track has in a raster, whose columns stand for equal parts of `window`. */
export interface TrackRows {
  raster: Raster;
  firstRow: number;
  rowCount: number;
  window: Range;
}

/** What is drawn of one track. */
export interface TrackSpans {
  /** The tiles at hand, each with the interval for which it is shown. */
  pieces: Piece<Tile>[];
  track: number;
  colours: KindColours;
  /** Whether narrow single spans are darker where they start. */
  hasEdges?: boolean | undefined;
}

/** From this width in pixels on, `fill` is faster than a loop: most spans are a few pixels wide, and a call costs more than writing them. */
const WIDTH_OF_FILL = 25;

/**
 * Draws the spans of one track, every one at least a pixel wide. A span at depth d of nested ones leaves the first d of
 * SUB_ROWS parts of the rows to the spans around it.
 */
export function rasterTrack(
  { raster: { columns, pixels }, firstRow, rowCount, window }: TrackRows,
  { pieces, track, colours, hasEdges = false }: TrackSpans,
): void {
  const { table } = colours;
  const endRow = firstRow + rowCount;
  const columnsPerTime = columns / (window.end - window.begin);
  const origin = window.begin;
  for (const { tile, begin: pieceBegin, end: pieceEnd } of pieces) {
    const { begin, end, kind, count, depth } = tile;
    // columns of the piece: from `least` to before `most`
    const least = Math.max(Math.floor((pieceBegin - origin) * columnsPerTime), 0);
    const most = Math.min(Math.ceil((pieceEnd - origin) * columnsPerTime), columns);
    if (least >= most) continue;
    const endOfTrack = tile.last(track);
    for (let i = tile.reaching(track, Math.max(origin, pieceBegin)); i < endOfTrack; i++) {
      // columns of the span: from `first` to before `behind`
      let first = Math.floor(((begin[i] as number) - origin) * columnsPerTime);
      if (first >= most) break;
      let behind = Math.round(((end[i] as number) - origin) * columnsPerTime);
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
      const rowsAbove = rowCount > 1 ? Math.min(depth[i] as number, SUB_ROWS - 1) * Math.ceil(rowCount / SUB_ROWS) : 0;
      for (let row = firstRow + rowsAbove; row < endRow; row++) {
        const offset = row * columns;
        if (behind - first >= WIDTH_OF_FILL) pixels.fill(colour, offset + first, offset + behind);
        else for (let x = first; x < behind; x++) pixels[offset + x] = colour;
        if (isEdged) pixels[offset + first] = darker(colour);
      }
    }
  }
}

/** Half as light. */
const darker = (pixel: number) => (0xff000000 | ((pixel >>> 1) & 0x7f7f7f)) >>> 0;

/** Intervals in one colour, such as the lifetimes of waves behind their instructions. */
export function rasterIntervals(
  { raster: { columns, pixels }, firstRow, rowCount, window }: TrackRows,
  { begins, ends }: { begins: ArrayLike<number>; ends: ArrayLike<number> },
  colour: number,
): void {
  const columnsPerTime = columns / (window.end - window.begin);
  for (let i = 0; i < begins.length; i++) {
    const first = Math.max(0, Math.floor(((begins[i] as number) - window.begin) * columnsPerTime));
    const behind = Math.min(columns, Math.ceil(((ends[i] as number) - window.begin) * columnsPerTime));
    if (behind <= first) continue;
    for (let row = firstRow; row < firstRow + rowCount; row++) {
      pixels.fill(colour, row * columns + first, row * columns + behind);
    }
  }
}
