// Levels of detail of a layer: which level suits the screen, which tiles it needs, and what stands in for missing ones.
import type { Range } from "./selection";

/** The addressing of a layer: level L has cells of `cell` * 2^L, a tile has `tile_cells` of them. */
export interface Levels {
  begin: number;
  end: number;
  cell: number;
  level_count: number;
  tile_cells: number;
}

export interface TileAddress {
  level: number;
  tile: number;
}

/** A cell may be a little wider than a pixel: half of the data for the same picture. */
const WIDEST_CELL = 1.5;

export function cellWidth(layer: Levels, level: number): number {
  return layer.cell * 2 ** level;
}

export function tileWidth(layer: Levels, level: number): number {
  return layer.tile_cells * cellWidth(layer, level);
}

/** The coarsest level whose cells are not much wider than a pixel. */
export function levelFor(layer: Levels, timePerPixel: number): number {
  const level = Math.floor(Math.log2((timePerPixel * WIDEST_CELL) / layer.cell));
  return Math.min(Math.max(level, 0), Math.max(layer.level_count - 1, 0));
}

/** First and last tile of a level that reach into a window; last < first when none does. */
export function tilesIn(layer: Levels, level: number, window: Range): { first: number; last: number } {
  const width = tileWidth(layer, level);
  const most = Math.max(0, Math.floor((layer.end - layer.begin) / width));
  const first = Math.floor((window.begin - layer.begin) / width);
  const last = Math.ceil((window.end - layer.begin) / width) - 1;
  if (last < 0 || first > most) return { first: 0, last: -1 };
  return { first: Math.max(first, 0), last: Math.min(last, most) };
}

/** The tiles that a window needs at a level, those in the middle of the screen first. */
export function needed(layer: Levels, level: number, window: Range): TileAddress[] {
  const { first, last } = tilesIn(layer, level, window);
  const middle = (window.begin + window.end) / 2;
  const width = tileWidth(layer, level);
  const distance = (tile: number) => Math.abs(layer.begin + (tile + 0.5) * width - middle);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ({ level, tile: first + i })).sort(
    (a, b) => distance(a.tile) - distance(b.tile),
  );
}

/** A loaded tile and the interval for which it is shown. */
export interface Piece<T> {
  tile: T;
  level: number;
  begin: number;
  end: number;
}

/** How many levels down to look for finer tiles: each of them doubles what has to be drawn. */
const FINER_LEVELS = 2;

/**
 * What to show in a window: the tiles of the level where they are at hand, else those of the next coarser one, else finer
 * ones if there are enough of them, else the next coarser one that is at hand.
 */
export function cover<T>(
  layer: Levels,
  level: number,
  window: Range,
  at: (address: TileAddress) => T | undefined,
): Piece<T>[] {
  const pieces: Piece<T>[] = [];
  const { first, last } = tilesIn(layer, level, window);
  const width = tileWidth(layer, level);
  for (let tile = first; tile <= last; tile++) {
    const begin = layer.begin + tile * width;
    const end = begin + width;
    const coarser = (from: number, to: number): Piece<T>[] => {
      for (let higher = from; higher < to; higher++) {
        const cached = at({ level: higher, tile: Math.floor(tile / 2 ** (higher - level)) });
        if (cached !== undefined) return [{ tile: cached, level: higher, begin, end }];
      }
      return [];
    };
    const near = coarser(level, Math.min(level + 2, layer.level_count));
    if (near.length) {
      pieces.push(...near);
      continue;
    }
    const small = finer(layer, level, tile, at, FINER_LEVELS);
    const needed = Math.min(end, window.end, layer.end) - Math.max(begin, window.begin);
    const isEnough = small.length > 0 && covered(small, window) >= needed * (1 - 1e-9);
    const far = isEnough ? [] : coarser(level + 2, layer.level_count);
    pieces.push(...(far.length ? far : small));
  }
  return pieces;
}

/** How much of a window pieces cover. */
export function covered<T>(pieces: Piece<T>[], window: Range): number {
  return pieces.reduce((sum, { begin, end }) => {
    return sum + Math.max(0, Math.min(end, window.end) - Math.max(begin, window.begin));
  }, 0);
}

function finer<T>(
  layer: Levels,
  level: number,
  tile: number,
  at: (address: TileAddress) => T | undefined,
  depth: number,
): Piece<T>[] {
  if (level === 0 || depth === 0) return [];
  const width = tileWidth(layer, level - 1);
  return [2 * tile, 2 * tile + 1].flatMap((child) => {
    const cached = at({ level: level - 1, tile: child });
    const begin = layer.begin + child * width;
    if (cached !== undefined) return [{ tile: cached, level: level - 1, begin, end: begin + width }];
    return finer(layer, level - 1, child, at, depth - 1);
  });
}
