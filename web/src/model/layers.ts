// The layers of a document: tracks of spans on one time axis, with levels of detail.
import { askUncached, json, type Parameters, type Question } from "../data/ask";
import { cellWidth, cover, covered, type Levels, levelFor, needed, type Piece, tileWidth } from "./levels";
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
  /** The layer that has the same tracks. */
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
  /** Number of the thing when it is one; -1 otherwise. */
  item: number;
  depth: number;
  level: number;
}

/** The layers of one document and their tiles. */
export class LayerSet {
  readonly layers: Map<string, Layer>;
  readonly store: TileStore;
  /** The only tiles of layers that are made in the page. */
  readonly made = new Map<string, Tile>();

  constructor(layers: Layer[], get: (parameters: Parameters, stop: AbortSignal) => Promise<Tile>) {
    this.layers = new Map(layers.map((layer) => [layer.name, layer]));
    for (const layer of layers) if (layer.tracks_of) layer.tracks = this.layers.get(layer.tracks_of)?.tracks ?? [];
    this.store = new TileStore(async (wanted, stop) => this.made.get(wanted.layer) ?? get({ ...wanted }, stop));
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
  wanted(layers: Iterable<Layer>, window: Range, timePerPixel: number): Wanted[] {
    const coarse: Wanted[] = [];
    const fine: Wanted[] = [];
    for (const layer of layers) {
      if (!layer.track_count || !layer.level_count) continue;
      const level = levelFor(layer, timePerPixel);
      coarse.push({ layer: layer.name, level: layer.level_count - 1, tile: 0 });
      for (const { level: l, tile } of needed(layer, level, window)) fine.push({ layer: layer.name, level: l, tile });
    }
    return [...coarse, ...fine];
  }

  /** The span of a track at a time, or right after it within `slack`, as far as it is at hand; the deepest of several. */
  at(layer: Layer, track: number, time: number, slack: number, timePerPixel = slack): Span | null {
    // What is shorter than a cell stands in the tile in which it begins, and less than a cell parts what is one group.
    const cell = cellWidth(layer, levelFor(layer, timePerPixel));
    const window = { begin: time - cell, end: time + layer.cell / 4 };
    let best: Span | null = null;
    let before: Span | null = null;
    for (const { tile, level } of this.pieces(layer, window, timePerPixel)) {
      for (let i = tile.reaching(track, time - Math.max(slack, cell)); i < tile.last(track); i++) {
        const begin = tile.begin[i] as number;
        if (begin > time + slack) break;
        const end = Math.max(tile.end[i] as number, begin + slack);
        if (time < begin) continue;
        const span = spanOf(layer, track, tile, i, level);
        if (time >= end) before = span;
        else if (!best || span.depth >= best.depth) best = span;
      }
    }
    if (best) return this.joined(best);
    const around = before && this.joined(before);
    return around && time < around.end ? around : null;
  }

  /**
   * Neighbours of one kind with less than a cell between them are one group, and tiles cut it: with what the tiles
   * beside it, as far as they are at hand, say of it.
   */
  joined(span: Span): Span {
    const { layer, track, level, kind } = span;
    if (!isGroup(span)) return span;
    const width = tileWidth(layer, level);
    const own = Math.floor((span.begin - layer.begin) / width);
    let whole = span;
    for (const step of [1, -1]) {
      let at = span;
      for (let number = own; ; number += step) {
        const here = this.edgeOf(layer, track, level, number, step);
        const beside = this.edgeOf(layer, track, level, number + step, -step);
        const isEdge = here !== null && here.begin === at.begin && here.kind === kind && here.count === at.count;
        if (!isEdge || !beside || beside.kind !== kind || !isGroup(beside)) break;
        const between = step > 0 ? beside.begin - at.end : at.begin - beside.end;
        if (between >= cellWidth(layer, level)) break;
        at = beside;
        whole = {
          ...whole,
          begin: Math.min(whole.begin, at.begin),
          end: Math.max(whole.end, at.end),
          count: whole.count + at.count,
          item: -1,
          depth: Math.min(whole.depth, at.depth),
        };
      }
    }
    return whole;
  }

  /** What begins last (step 1) or first (step -1) in a tile of a track; null = nothing does, or it is not at hand. */
  private edgeOf(layer: Layer, track: number, level: number, number: number, step: number): Span | null {
    const tile = number < 0 ? undefined : this.store.at({ layer: layer.name, level, tile: number });
    if (!tile) return null;
    const first = tile.from(track, layer.begin + number * tileWidth(layer, level));
    const last = tile.last(track) - 1;
    return first > last ? null : spanOf(layer, track, tile, step > 0 ? last : first, level);
  }

  /** The free time of a track around a time, as far as the raw spans around it are at hand; null = not known or not free. */
  gap(layer: Layer, track: number, time: number): Range | null {
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

  /** The span before or after another one in its track; looked for in as many raw tiles as reasonable. */
  async neighbour(of: Span, step: 1 | -1): Promise<Span | null> {
    const { layer, track } = of;
    const most = tileAt(layer, layer.end - layer.cell / 2);
    let number = tileAt(layer, of.begin);
    for (let turns = 0; turns < MOST_TILES_SEARCHED && number >= 0 && number <= most; turns++, number += step) {
      const tile = await this.store.fetch({ layer: layer.name, level: 0, tile: number });
      const neighbour = step > 0 ? after(tile, track, of) : before(tile, track, of);
      if (neighbour >= 0) return spanOf(layer, track, tile, neighbour, 0);
    }
    return null;
  }

  /** The raw span of a track at a time, or the nearest one that is not farther than `slack`. */
  async raw(layer: Layer, track: number, time: number, slack: number): Promise<Span | null> {
    const number = tileAt(layer, time);
    const tile = await this.store.fetch({ layer: layer.name, level: 0, tile: Math.max(0, number) });
    let best = -1;
    let distance = slack;
    for (let i = tile.first(track); i < tile.last(track); i++) {
      const begin = tile.begin[i] as number;
      const away = Math.max(begin - time, time - (tile.end[i] as number), 0);
      if (away < distance || (away === distance && (away === 0 || best < 0))) [best, distance] = [i, away];
    }
    return best < 0 ? null : spanOf(layer, track, tile, best, 0);
  }

  /**
   * How many spans reach into an interval, and whether that is exact: it is when everything is loaded and no group of
   * several crosses the start or the end of the interval.
   */
  count(
    layer: Layer,
    tracks: Iterable<number>,
    range: Range,
    timePerPixel: number,
  ): { count: number; isExact: boolean } {
    const level = levelFor(layer, timePerPixel);
    const pieces = this.pieces(layer, { begin: range.begin - cellWidth(layer, level), end: range.end }, timePerPixel);
    const inside = { begin: Math.max(range.begin, layer.begin), end: Math.min(range.end, layer.end) };
    let count = 0;
    let isExact =
      pieces.every((piece) => piece.level <= level) &&
      covered(pieces, inside) >= Math.max(0, inside.end - inside.begin) * (1 - 1e-9);
    for (const track of tracks) {
      pieces.forEach(({ tile, begin: from, end: to }, number) => {
        const last = Math.min(to, range.end);
        for (let i = tile.reaching(track, range.begin); i < tile.last(track); i++) {
          const begin = tile.begin[i] as number;
          const end = tile.end[i] as number;
          if (begin >= last) break;
          if (end <= range.begin && begin < range.begin) continue;
          if (begin < from && number > 0) continue; // counted in the tile before
          count += tile.count[i] as number;
          if ((tile.count[i] as number) > 1 && (begin < range.begin || end > range.end)) isExact = false;
        }
      });
    }
    return { count, isExact };
  }
}

/** Whether spans are too short for their level to stand by themselves: what is at least a cell long does. */
export function isGroup({ layer, level, begin, end, count }: Span): boolean {
  return count > 1 || (level > 0 && end - begin < cellWidth(layer, level));
}

const MOST_TILES_SEARCHED = 64;

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

/** Spans of a track are in the order of begin, then item: what is before and after follows that. */
function isLess(tile: Tile, i: number, begin: number, item: number): boolean {
  const here = tile.begin[i] as number;
  return here < begin || (here === begin && (tile.item[i] as number) < item);
}

function after(tile: Tile, track: number, of: Span): number {
  let best = -1;
  for (let i = tile.from(track, of.begin); i < tile.last(track); i++) {
    const isAfter = !isLess(tile, i, of.begin, of.item) && (tile.item[i] !== of.item || tile.begin[i] !== of.begin);
    if (!isAfter) continue;
    if (best >= 0 && (tile.begin[i] as number) > (tile.begin[best] as number)) break;
    if (best < 0 || isLess(tile, i, tile.begin[best] as number, tile.item[best] as number)) best = i;
  }
  return best;
}

function before(tile: Tile, track: number, of: Span): number {
  let best = -1;
  for (let i = tile.first(track); i < tile.last(track) && (tile.begin[i] as number) <= of.begin; i++) {
    if (!isLess(tile, i, of.begin, of.item)) continue;
    if (best < 0 || !isLess(tile, i, tile.begin[best] as number, tile.item[best] as number)) best = i;
  }
  return best;
}

/** The kinds of a layer that has late ones. */
export const lateKinds = (document: number, layer: string): Question<Kind[]> =>
  json<Kind[]>(document, "kinds", { layer });

const sets = new Map<number, LayerSet>();

/** The layers of a document; one set of them, for it keeps its tiles. */
export function layersOf(document: number): Question<LayerSet> {
  return json<{ layers: Layer[] }>(document, "layers").as(setFrom, document);
}

function setFrom({ layers }: { layers: Layer[] }, document: number): LayerSet {
  const tile = async (parameters: Parameters, stop: AbortSignal) =>
    Tile.from(await askUncached(document, "spans", parameters, stop));
  const set = sets.get(document) ?? new LayerSet(layers, tile);
  sets.set(document, set);
  return set;
}
