// The stalled part of spans: of the height of a track, the share of a pixel's time, paler or in the colour of its reason.
import type { Bins, CurveTile, CurveTiles } from "../model/curves";
import type { Layer } from "../model/layers";
import type { Range } from "../model/selection";
import { pixelOf } from "./painter";
import { colourOf } from "./palette";
import type { TrackRows } from "./raster";

export interface Stalled {
  /** Shares of time in 255ths, a series per track. */
  tiles: CurveTiles;
  series: number;
  /** The layer whose kinds are the reasons; absent = the spans' own colours, paler. */
  by?: Layer;
}

/** The share of a pixel's time that is all of it. */
export const ALL = 255;
/** More rows of pixels than this in a track cannot be told apart. */
const MOST_ROWS = 16;
/** How far the colour of a stalled part is moved towards that of an empty track. */
export const PALER = 0.64;

/** Rows of pixels that a track with a stalled part needs. */
export const rowsFor = (pixels: number) => Math.min(MOST_ROWS, Math.max(1, Math.floor(pixels)));

/** In which bin of which tile the share of each column of pixels stands: the same for all tracks. */
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
    // A column shows the bin in which its middle lies.
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

/** How the stalled part of one track is drawn over its spans. */
export interface StalledPart {
  bins: ColumnBins;
  /** The series of the track in the tiles of `bins`. */
  series: number;
  /** Pixels of the reasons, one per column; null = what is stalled becomes paler. */
  reasons: Uint32Array | null;
  /**
   * Whether spans lie below each other in the track, so that its rows differ. Else only its first row was drawn, and
   * becomes that of all others here.
   */
  isDeep: boolean;
}

/** Of each column, how many rows of pixels are stalled, and their colour; memory that every call uses again. */
let spareHeights = new Uint8Array(0);
let spareColours = new Uint32Array(0);

/** Draws what is stalled in its colour, from the first row of the track down, as many rows as its share of them. */
export function rasterStalled(
  { raster: { columns, pixels }, firstRow, rowCount }: Omit<TrackRows, "window">,
  { bins, series, reasons, isDeep }: StalledPart,
): void {
  if (spareHeights.length < columns) [spareHeights, spareColours] = [new Uint8Array(columns), new Uint32Array(columns)];
  else spareHeights.fill(0, 0, columns);
  const [heights, colours] = [spareHeights, spareColours];
  const pale = paleness();
  const start = firstRow * columns;
  let tallest = 0;
  for (const { tile, first, last } of bins.segments) {
    const offset = series * tile.count;
    for (let x = first; x < last; x++) {
      const share = tile.mean[offset + (bins.bin[x] as number)] as number;
      const height = ((share * rowCount) / ALL + 0.5) | 0;
      if (height === 0) continue;
      if (height > tallest) tallest = height;
      heights[x] = height;
      const pixel = pixels[start + x] as number;
      if (reasons === null) colours[x] = pixel && pale(pixel);
      // the reason of this column, else of a neighbour, else the span as it is; nothing where there is no span
      else colours[x] = pixel && (reasons[x] || reasons[x - 1] || reasons[x + 1] || pixel);
    }
  }
  if (!isDeep)
    for (let row = 1; row < rowCount; row++) pixels.copyWithin(start + row * columns, start, start + columns);
  for (let row = 0; row < tallest; row++) {
    const offset = start + row * columns;
    for (let x = 0; x < columns; x++) {
      if ((heights[x] as number) <= row) continue;
      const pixel = pixels[offset + x] as number;
      if (!isDeep) pixels[offset + x] = colours[x] as number;
      else if (pixel) pixels[offset + x] = reasons ? (colours[x] as number) : pale(pixel);
    }
  }
}

/** Paler colours are cached by a hash of the pixel, with so many places: a picture has few colours, and most of them stay. */
const PLACES = 256;

/** The function of the last theme: it has the cache. */
let lastPaleness: { empty: number; pale: (pixel: number) => number } | null = null;

/** The function that makes pixels paler in the theme on screen. */
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
