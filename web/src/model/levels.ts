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

type Loaded<T> = (address: TileAddress) => T | undefined;

/**
 * What to show in a window: the tiles of the level where they are loaded, else those of the next coarser one; else finer
 * ones if there are enough of them; else the next coarser one that is loaded.
 */
export function cover<T>(layer: Levels, level: number, window: Range, loaded: Loaded<T>): Piece<T>[] {
  const { first, last } = tilesIn(layer, level, window);
  const pieces: Piece<T>[] = [];
  for (let tile = first; tile <= last; tile++) {
    const address = { level, tile };
    const near = coarserPiece(layer, address, { from: level, to: level + 2 }, loaded);
    pieces.push(...(near ? [near] : finerOrCoarser(layer, address, window, loaded)));
  }
  return pieces;
}

function finerOrCoarser<T>(layer: Levels, address: TileAddress, window: Range, loaded: Loaded<T>): Piece<T>[] {
  const { begin, end } = intervalOf(layer, address);
  const fine = finerPieces(layer, address, loaded, FINER_LEVELS);
  const length = Math.min(end, window.end, layer.end) - Math.max(begin, window.begin);
  if (fine.length && covered(fine, window) >= length * (1 - 1e-9)) return fine;
  const far = coarserPiece(layer, address, { from: address.level + 2, to: layer.level_count }, loaded);
  return far ? [far] : fine;
}

/** The interval of a tile. */
function intervalOf(layer: Levels, { level, tile }: TileAddress): Range {
  const width = tileWidth(layer, level);
  return { begin: layer.begin + tile * width, end: layer.begin + (tile + 1) * width };
}

/** The part of a coarser tile, or of the tile itself, that stands in for a tile: of the first level that has one. */
function coarserPiece<T>(
  layer: Levels,
  { level, tile }: TileAddress,
  levels: { from: number; to: number },
  loaded: Loaded<T>,
): Piece<T> | null {
  for (let coarser = levels.from; coarser < Math.min(levels.to, layer.level_count); coarser++) {
    const found = loaded({ level: coarser, tile: Math.floor(tile / 2 ** (coarser - level)) });
    if (found !== undefined) return { tile: found, level: coarser, ...intervalOf(layer, { level, tile }) };
  }
  return null;
}

/** How much of a window pieces cover. */
export function covered<T>(pieces: Piece<T>[], window: Range): number {
  return pieces.reduce((sum, { begin, end }) => {
    return sum + Math.max(0, Math.min(end, window.end) - Math.max(begin, window.begin));
  }, 0);
}

/** The finer tiles that stand in for a tile, as many of them as are loaded. */
function finerPieces<T>(layer: Levels, { level, tile }: TileAddress, loaded: Loaded<T>, depth: number): Piece<T>[] {
  if (level === 0 || depth === 0) return [];
  return [2 * tile, 2 * tile + 1].flatMap((number) => {
    const half = { level: level - 1, tile: number };
    const found = loaded(half);
    if (found !== undefined) return [{ tile: found, level: half.level, ...intervalOf(layer, half) }];
    return finerPieces(layer, half, loaded, depth - 1);
  });
}
