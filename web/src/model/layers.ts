// The layers of a document: tracks of spans on one time axis, with levels of detail. Tiles of spans are loaded for what is
// on screen (tile_store.ts); here is what is asked of them: pictures, the span at a place, gaps, neighbours, counts.
import { askUncached, json, type Parameters, type Question } from "../data/ask";
import {
  cellWidth,
  cover,
  covered,
  type Levels,
  levelFor,
  needed,
  type Piece,
  type TileAddress,
  tileWidth,
} from "./levels";
import type { Range } from "./selection";
import { Tile } from "./tile";
import { TileStore, type Wanted } from "./tile_store";

export interface Track {
  track: number;
  label: string;
  /** Names of the groups around it, outermost first, or one name. */
  group?: string | string[] | null;
  [key: string]: unknown;
}

export interface Kind {
  kind: number;
  name: string;
  /** Meaning in draw/palette.ts; absent = the colour of that number. */
  colour?: string | null;
  /** What its name means. */
  meaning?: string;
  /** How long its spans are together, where that is known. */
  cycles?: number;
}

export interface Layer extends Levels {
  name: string;
  title: string;
  unit: "cycles" | "ns";
  track_count: number;
  tracks: Track[];
  kinds: Kind[];
  /** The layer whose tracks it has: they are not sent twice. */
  tracks_of?: string | null;
  /** Whether its kinds are asked for by themselves (`lateKinds`). */
  has_late_kinds?: boolean;
}

const kindIndices = new WeakMap<Layer, Map<number, Kind>>();

/** What a kind of a layer means. */
export function kindOf(layer: Layer, kind: number): Kind | undefined {
  let index = kindIndices.get(layer);
  if (!index) {
    index = new Map(layer.kinds.map((k) => [k.kind, k]));
    kindIndices.set(layer, index);
  }
  return index.get(kind);
}

/** One span as it is, or several of a track that are too short to be told apart on screen. */
export interface Span {
  layer: Layer;
  track: number;
  begin: number;
  end: number;
  /** Of several: the kind that takes most of their time. */
  kind: number;
  /** How many spans it stands for. */
  count: number;
  /** Its number in the table of what the layer shows; -1 = it stands for several. */
  item: number;
  /** How many spans of its track it lies inside of. */
  depth: number;
  /** The level of detail that it was read from; 0 = raw. */
  level: number;
}

/** A place on a timeline. */
export interface PlaceInTime {
  layer: Layer;
  track: number;
  time: number;
}

/** Tiles of level 0 that `neighbourOf` looks through before it gives up: each is a request to the server. */
const MOST_TILES_SEARCHED = 64;

/**
 * The layers of one document and their tiles. What draws reads what is loaded and never waits; what answers to a click
 * may load raw spans (of level 0).
 */
export class LayerSet {
  readonly layers: Map<string, Layer>;
  readonly store: TileStore;
  /** Of layers that the page makes itself: their only tile, by the name of the layer. */
  readonly ownTiles = new Map<string, Tile>();

  /** `get` asks the server for a tile. */
  constructor(layers: Layer[], get: (parameters: Parameters, stop: AbortSignal) => Promise<Tile>) {
    this.layers = new Map(layers.map((layer) => [layer.name, layer]));
    for (const layer of layers) if (layer.tracks_of) layer.tracks = this.layers.get(layer.tracks_of)?.tracks ?? [];
    this.store = new TileStore(async (wanted, stop) => this.ownTiles.get(wanted.layer) ?? get({ ...wanted }, stop));
  }

  layer(name: string): Layer | undefined {
    return this.layers.get(name);
  }

  /** What is loaded of a layer for a window, the best tile for each interval. */
  pieces(layer: Layer, window: Range, timePerPixel: number): Piece<Tile>[] {
    const level = levelFor(layer, timePerPixel);
    return cover(layer, level, window, ({ level, tile }) => this.store.at({ layer: layer.name, level, tile }));
  }

  /** The tiles that these layers need for a window: the coarsest first, because it always gives a picture. */
  tilesFor(layers: Iterable<Layer>, window: Range, timePerPixel: number): Wanted[] {
    const coarse: Wanted[] = [];
    const fine: Wanted[] = [];
    for (const layer of layers) {
      if (!layer.track_count || !layer.level_count) continue;
      coarse.push({ layer: layer.name, level: layer.level_count - 1, tile: 0 });
      const addresses = needed(layer, levelFor(layer, timePerPixel), window);
      fine.push(...addresses.map((address) => ({ layer: layer.name, ...address })));
    }
    return [...coarse, ...fine];
  }

  /**
   * The loaded span at a place on screen, the deepest of several. Spans count as at least `slack` long, so that those
   * narrower than a pixel can be pointed at. `timePerPixel` says which level is on screen.
   */
  spanAt({ layer, track, time }: PlaceInTime, slack: number, timePerPixel = slack): Span | null {
    // A span shorter than a cell is in the tile in which it begins only, and parts of a group are less than a cell apart.
    const cell = cellWidth(layer, levelFor(layer, timePerPixel));
    const window = { begin: time - cell, end: time + layer.cell / 4 };
    let around: Span | null = null;
    let before: Span | null = null;
    for (const { tile, level } of this.pieces(layer, window, timePerPixel)) {
      for (let i = tile.reaching(track, time - Math.max(slack, cell)); i < tile.last(track); i++) {
        const begin = tile.begin[i] as number;
        if (begin > time + slack) break;
        if (time < begin) continue;
        const span = spanOf(layer, track, tile, i, level);
        if (time >= Math.max(span.end, begin + slack)) before = span;
        else if (!around || span.depth >= around.depth) around = span;
      }
    }
    if (around) return this.joinedGroup(around);
    const group = before && this.joinedGroup(before); // which may go on in the next tile, around the time
    return group && time < group.end ? group : null;
  }

  /**
   * The whole group that a span is a part of. Neighbours of one kind with less than a cell between them are one group of
   * the picture, and tiles cut it: the parts in the tiles beside it, as far as they are loaded, are added.
   */
  joinedGroup(span: Span): Span {
    if (!isGroup(span)) return span;
    const others = [...this.partsBeside(span, -1), ...this.partsBeside(span, 1)];
    if (!others.length) return span;
    const parts = [span, ...others];
    return {
      ...span,
      begin: Math.min(...parts.map((part) => part.begin)),
      end: Math.max(...parts.map((part) => part.end)),
      count: parts.reduce((sum, part) => sum + part.count, 0),
      item: -1,
      depth: Math.min(...parts.map((part) => part.depth)),
    };
  }

  /** The parts of a group after it (step 1) or before it (step -1), from one tile to the next. */
  private *partsBeside(span: Span, step: 1 | -1): Generator<Span> {
    const { layer, track, level, kind } = span;
    let part = span;
    for (let number = Math.floor((span.begin - layer.begin) / tileWidth(layer, level)); ; number += step) {
      const edge = this.edgeSpan(layer, track, { level, tile: number }, step);
      const isAtEdge = edge?.begin === part.begin && edge.kind === kind && edge.count === part.count;
      const next = this.edgeSpan(layer, track, { level, tile: number + step }, step > 0 ? -1 : 1);
      if (!isAtEdge || next?.kind !== kind || !isGroup(next)) return;
      const between = step > 0 ? next.begin - part.end : part.begin - next.end;
      if (between >= cellWidth(layer, level)) return;
      yield next;
      part = next;
    }
  }

  /** What begins last (step 1) or first (step -1) in a tile of a track; null = nothing does, or it is not loaded. */
  private edgeSpan(layer: Layer, track: number, { level, tile: number }: TileAddress, step: 1 | -1): Span | null {
    const tile = number < 0 ? undefined : this.store.at({ layer: layer.name, level, tile: number });
    if (!tile) return null;
    const first = tile.from(track, layer.begin + number * tileWidth(layer, level));
    const last = tile.last(track) - 1;
    return first > last ? null : spanOf(layer, track, tile, step > 0 ? last : first, level);
  }

  /** The free time of a track around a time, from the raw spans of its tile; null = they are not loaded, or it is not free. */
  gapAt({ layer, track, time }: PlaceInTime): Range | null {
    const tile = this.store.at({ layer: layer.name, level: 0, tile: tileAt(layer, time) });
    if (!tile) return null;
    let begin = Number.NEGATIVE_INFINITY;
    for (let i = tile.first(track); i < tile.last(track); i++) {
      const next = tile.begin[i] as number;
      if (next > time) return Number.isFinite(begin) && begin <= time ? { begin, end: next } : null;
      begin = Math.max(begin, tile.end[i] as number);
    }
    return null;
  }

  /** The raw span after (step 1) or before (step -1) another one in its track; null = none within MOST_TILES_SEARCHED tiles. */
  async neighbourOf(span: Span, step: 1 | -1): Promise<Span | null> {
    const { layer, track } = span;
    const lastTile = tileAt(layer, layer.end - layer.cell / 2);
    let number = tileAt(layer, span.begin);
    for (let turn = 0; turn < MOST_TILES_SEARCHED && number >= 0 && number <= lastTile; turn++, number += step) {
      const tile = await this.store.fetch({ layer: layer.name, level: 0, tile: number });
      const neighbour = step > 0 ? indexAfter(tile, track, span) : indexBefore(tile, track, span);
      if (neighbour >= 0) return spanOf(layer, track, tile, neighbour, 0);
    }
    return null;
  }

  /** The raw span of a track at a time, or the nearest one that is not farther than `slack`. */
  async rawSpanAt({ layer, track, time }: PlaceInTime, slack: number): Promise<Span | null> {
    const number = tileAt(layer, time);
    const tile = await this.store.fetch({ layer: layer.name, level: 0, tile: Math.max(0, number) });
    let nearest = -1;
    let distance = slack;
    for (let i = tile.first(track); i < tile.last(track); i++) {
      const begin = tile.begin[i] as number;
      const away = Math.max(begin - time, time - (tile.end[i] as number), 0);
      // of several around the time the one that begins last; of several at one distance the first
      if (away < distance || (away === distance && (away === 0 || nearest < 0))) [nearest, distance] = [i, away];
    }
    return nearest < 0 ? null : spanOf(layer, track, tile, nearest, 0);
  }

  /**
   * How many spans of some tracks reach into an interval. The number is exact when everything on the level of the screen
   * is loaded and no group of several spans crosses the start or the end of the interval.
   */
  countIn(
    { layer, tracks, range }: { layer: Layer; tracks: Iterable<number>; range: Range },
    timePerPixel: number,
  ): { count: number; isExact: boolean } {
    const level = levelFor(layer, timePerPixel);
    const pieces = this.pieces(layer, { begin: range.begin - cellWidth(layer, level), end: range.end }, timePerPixel);
    const inLayer = { begin: Math.max(range.begin, layer.begin), end: Math.min(range.end, layer.end) };
    const isLoaded = covered(pieces, inLayer) >= Math.max(0, inLayer.end - inLayer.begin) * (1 - 1e-9);
    let isExact = isLoaded && pieces.every((piece) => piece.level <= level);
    let count = 0;
    for (const track of tracks) {
      for (const [number, { tile, begin: pieceBegin, end: pieceEnd }] of pieces.entries()) {
        for (let i = tile.reaching(track, range.begin); i < tile.last(track); i++) {
          const begin = tile.begin[i] as number;
          const end = tile.end[i] as number;
          if (begin >= Math.min(pieceEnd, range.end)) break;
          const endsBefore = end <= range.begin && begin < range.begin;
          const isOfPieceBefore = begin < pieceBegin && number > 0; // where it was counted
          if (endsBefore || isOfPieceBefore) continue;
          count += tile.count[i] as number;
          if ((tile.count[i] as number) > 1 && (begin < range.begin || end > range.end)) isExact = false;
        }
      }
    }
    return { count, isExact };
  }
}

/** Whether a span is drawn as part of a group: it stands for several, or is shorter than a cell of its level. */
export function isGroup({ layer, level, begin, end, count }: Span): boolean {
  return count > 1 || (level > 0 && end - begin < cellWidth(layer, level));
}

/** The number of the tile of level 0 in which a time lies. */
function tileAt(layer: Layer, time: number): number {
  return Math.floor((time - layer.begin) / tileWidth(layer, 0));
}

export function spanOf(layer: Layer, track: number, tile: Tile, i: number, level: number): Span {
  return {
    layer,
    track,
    begin: tile.begin[i] as number,
    end: tile.end[i] as number,
    kind: tile.kind[i] as number,
    count: tile.count[i] as number,
    item: tile.item[i] as number,
    depth: tile.depth[i] as number,
    level,
  };
}

/** Whether span i of a tile comes before another one. Spans of a track are ordered by begin, then by item. */
function precedes(tile: Tile, i: number, { begin, item }: Pick<Span, "begin" | "item">): boolean {
  const ownBegin = tile.begin[i] as number;
  return ownBegin < begin || (ownBegin === begin && (tile.item[i] as number) < item);
}

const orderOf = (tile: Tile, i: number) => ({ begin: tile.begin[i] as number, item: tile.item[i] as number });

/** The first span of a track after another one; -1 = none in this tile. Spans of one begin may be in any order of items. */
function indexAfter(tile: Tile, track: number, span: Span): number {
  let best = -1;
  for (let i = tile.from(track, span.begin); i < tile.last(track); i++) {
    const isSame = tile.item[i] === span.item && tile.begin[i] === span.begin;
    if (isSame || precedes(tile, i, span)) continue;
    if (best >= 0 && (tile.begin[i] as number) > (tile.begin[best] as number)) break;
    if (best < 0 || precedes(tile, i, orderOf(tile, best))) best = i;
  }
  return best;
}

/** The last span of a track before another one; -1 = none in this tile. */
function indexBefore(tile: Tile, track: number, span: Span): number {
  let best = -1;
  for (let i = tile.first(track); i < tile.last(track) && (tile.begin[i] as number) <= span.begin; i++) {
    if (precedes(tile, i, span) && (best < 0 || !precedes(tile, i, orderOf(tile, best)))) best = i;
  }
  return best;
}

/** The kinds of a layer that has late ones. */
export const lateKinds = (document: number, layer: string): Question<Kind[]> =>
  json<Kind[]>(document, "kinds", { layer });

const sets = new Map<number, LayerSet>();

/** The layers of a document: always the same set, which holds the tiles that were loaded. */
export function layersOf(document: number): Question<LayerSet> {
  return json<{ layers: Layer[] }>(document, "layers").as(setFrom, document);
}

function setFrom({ layers }: { layers: Layer[] }, document: number): LayerSet {
  const askTile = async (parameters: Parameters, stop: AbortSignal) =>
    Tile.from(await askUncached(document, "spans", parameters, stop));
  const set = sets.get(document) ?? new LayerSet(layers, askTile);
  sets.set(document, set);
  return set;
}
