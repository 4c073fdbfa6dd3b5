// The stalled part of spans: of the height of a track, the share of a pixel's time, paler or in the colour of its reason.
import type { Bins, CurveTile, CurveTiles } from "../model/curves";
import type { Layer } from "../model/layers";
import type { Range } from "../model/selection";
import { pixelOf } from "./painter";
import { colourOf } from "./palette";
import type { Raster } from "./raster";

export interface Stalled {
  /** Shares of time in 255ths, a series per track. */
  tiles: CurveTiles;
  series: number;
  /** The layer whose kinds are the reasons; absent = the spans' own colours, paler. */
  by?: Layer;
}

export const ALL = 255;
/** Finer than so many rows nobody sees. */
const MOST_ROWS = 16;
/** How far the colour of a stalled part is moved towards that of an empty track. */
export const PALER = 0.64;

/** Rows of pixels that a track with a stalled part needs. */
export const rowsFor = (pixels: number) => Math.min(MOST_ROWS, Math.max(1, Math.floor(pixels)));

/** Where in the tiles the shares of columns stand: the same for all tracks. */
export interface ColumnBins {
  /** Columns from `first` to before `last`, and the tile with their bins. */
  segments: { tile: CurveTile; first: number; last: number }[];
  /** Per column its bin in that tile. */
  bin: Int32Array;
}

export function columnBins(parts: Bins[], window: Range, columns: number): ColumnBins {
  const bin = new Int32Array(columns);
  const step = (window.end - window.begin) / columns;
  const segments = parts.map(({ tile, begin, width, first: least, last: most }) => {
    // Of a column counts what is in its middle.
    const column = (time: number) => Math.min(columns, Math.max(0, Math.ceil((time - window.begin) / step - 0.5)));
    const [first, last] = [column(begin + least * width), column(begin + most * width)];
    for (let x = first; x < last; x++) {
      const at = Math.floor((window.begin + (x + 0.5) * step - begin) / width);
      bin[x] = Math.min(Math.max(at, least), most - 1);
    }
    return { tile, first, last };
  });
  return { segments, bin };
}

let spareRows = new Uint8Array(0);
let spareColours = new Uint32Array(0);

/**
 * Makes what is stalled paler, or gives it the colours of `over` (one per column). Where spans lie side by side (`isDeep`)
 * all rows of the track are drawn; else only the first one is, and the others become like it.
 */
export function rasterStalled(
  { columns, pixels }: Raster,
  row: number,
  rows: number,
  bins: ColumnBins,
  series: number,
  over: Uint32Array | null,
  isDeep: boolean,
): void {
  if (spareRows.length < columns) [spareRows, spareColours] = [new Uint8Array(columns), new Uint32Array(columns)];
  else spareRows.fill(0, 0, columns);
  const [stalledRows, colours] = [spareRows, spareColours];
  const { bin } = bins;
  const pale = paleness();
  const base = row * columns;
  let most = 0;
  for (const { tile, first, last } of bins.segments) {
    const { mean } = tile;
    const offset = series * tile.count;
    for (let x = first; x < last; x++) {
      const stalled = (((mean[offset + (bin[x] as number)] as number) * rows) / ALL + 0.5) | 0;
      if (stalled === 0) continue;
      if (stalled > most) most = stalled;
      stalledRows[x] = stalled;
      const pixel = pixels[base + x] as number;
      if (over === null) colours[x] = pixel && pale(pixel);
      else colours[x] = pixel && (over[x] || over[x - 1] || over[x + 1] || pixel);
    }
  }
  if (!isDeep) for (let r = 1; r < rows; r++) pixels.copyWithin(base + r * columns, base, base + columns);
  for (let r = 0; r < most; r++) {
    const at = base + r * columns;
    for (let x = 0; x < columns; x++) {
      if ((stalledRows[x] as number) <= r) continue;
      if (!isDeep) pixels[at + x] = colours[x] as number;
      else if (pixels[at + x]) pixels[at + x] = over ? (colours[x] as number) : pale(pixels[at + x] as number);
    }
  }
}

/** Places for the few colours of a picture; another colour takes the place of one before it. */
const PLACES = 256;

let lastPaleness: { empty: number; pale: (pixel: number) => number } | null = null;

/** The function that makes pixels paler in the theme of now. */
function paleness(): (pixel: number) => number {
  const empty = pixelOf(colourOf("EMPTY"));
  if (lastPaleness?.empty !== empty) lastPaleness = { empty, pale: palenessTowards(empty) };
  return lastPaleness.pale;
}

function palenessTowards(empty: number): (pixel: number) => number {
  const from = new Uint32Array(PLACES);
  const to = new Uint32Array(PLACES);
  const part = (pixel: number, shift: number) => {
    const value = (pixel >>> shift) & 0xff;
    return Math.round(value + (((empty >>> shift) & 0xff) - value) * PALER) << shift;
  };
  return (pixel) => {
    const place = (pixel ^ (pixel >>> 8) ^ (pixel >>> 16)) & (PLACES - 1);
    if (from[place] !== pixel) {
      from[place] = pixel;
      to[place] = (0xff000000 | part(pixel, 16) | part(pixel, 8) | part(pixel, 0)) >>> 0;
    }
    return to[place] as number;
  };
}
