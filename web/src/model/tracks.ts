// The tracks of a document: lanes of spans on one time axis, with levels of detail.
import { askUncached, json, type Parameters, type Question } from "../data/ask";
import { cellWidth, cover, covered, type Levels, levelFor, needed, type Piece, tileWidth } from "./levels";
import type { Range } from "./selection";
import { Tile } from "./tile";
import { TileStore, type Wanted } from "./tile_store";

export interface Lane {
  lane: number;
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

export interface Track extends Levels {
  name: string;
  title: string;
  unit: "cycles" | "ns";
  lane_count: number;
  lanes: Lane[];
  kinds: Kind[];
  /** The track that has the same lanes. */
  lanes_of?: string | null;
  /** Whether its kinds are asked for by themselves (`lateKinds`). */
  has_late_kinds?: boolean;
}

const kindIndices = new WeakMap<Track, Map<number, Kind>>();

/** What a kind of a track means. */
export function kindOf(track: Track, kind: number): Kind | undefined {
  let index = kindIndices.get(track);
  if (!index) {
    index = new Map(track.kinds.map((k) => [k.kind, k]));
    kindIndices.set(track, index);
  }
  return index.get(kind);
}

/** One span as it is, or several of a lane that are too short to be told apart on screen. */
export interface Span {
  track: Track;
  lane: number;
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

/** The tracks of one document and their tiles. */
export class TrackSet {
  readonly tracks: Map<string, Track>;
  readonly store: TileStore;

  constructor(tracks: Track[], get: (parameters: Parameters) => Promise<Tile>) {
    this.tracks = new Map(tracks.map((track) => [track.name, track]));
    for (const track of tracks) if (track.lanes_of) track.lanes = this.tracks.get(track.lanes_of)?.lanes ?? [];
    this.store = new TileStore((wanted) => get({ ...wanted }));
  }

  track(name: string): Track | undefined {
    return this.tracks.get(name);
  }

  /** What is loaded of a track for a window, the best tile for each interval. */
  pieces(track: Track, window: Range, timePerPixel: number): Piece<Tile>[] {
    const level = levelFor(track, timePerPixel);
    return cover(track, level, window, ({ level, tile }) => this.store.at({ track: track.name, level, tile }));
  }

  /** The tiles that these tracks need for a window: the coarsest first, because it always gives a picture. */
  wanted(tracks: Iterable<Track>, window: Range, timePerPixel: number): Wanted[] {
    const coarse: Wanted[] = [];
    const fine: Wanted[] = [];
    for (const track of tracks) {
      if (!track.lane_count || !track.level_count) continue;
      const level = levelFor(track, timePerPixel);
      coarse.push({ track: track.name, level: track.level_count - 1, tile: 0 });
      for (const { level: l, tile } of needed(track, level, window)) fine.push({ track: track.name, level: l, tile });
    }
    return [...coarse, ...fine];
  }

  /** The span of a lane at a time, or right after it within `slack`, as far as it is at hand; the deepest of several. */
  at(track: Track, lane: number, time: number, slack: number, timePerPixel = slack): Span | null {
    // What is shorter than a cell stands in the tile in which it begins, and less than a cell parts what is one group.
    const cell = cellWidth(track, levelFor(track, timePerPixel));
    const window = { begin: time - cell, end: time + track.cell / 4 };
    let best: Span | null = null;
    let before: Span | null = null;
    for (const { tile, level } of this.pieces(track, window, timePerPixel)) {
      for (let i = tile.reaching(lane, time - Math.max(slack, cell)); i < tile.last(lane); i++) {
        const begin = tile.begin[i] as number;
        if (begin > time + slack) break;
        const end = Math.max(tile.end[i] as number, begin + slack);
        if (time < begin) continue;
        const span = spanOf(track, lane, tile, i, level);
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
    const { track, lane, level, kind } = span;
    if (!isGroup(span)) return span;
    const width = tileWidth(track, level);
    const own = Math.floor((span.begin - track.begin) / width);
    let whole = span;
    for (const step of [1, -1]) {
      let at = span;
      for (let number = own; ; number += step) {
        const here = this.edgeOf(track, lane, level, number, step);
        const beside = this.edgeOf(track, lane, level, number + step, -step);
        const isEdge = here !== null && here.begin === at.begin && here.kind === kind && here.count === at.count;
        if (!isEdge || !beside || beside.kind !== kind || !isGroup(beside)) break;
        const between = step > 0 ? beside.begin - at.end : at.begin - beside.end;
        if (between >= cellWidth(track, level)) break;
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

  /** What begins last (step 1) or first (step -1) in a tile of a lane; null = nothing does, or it is not at hand. */
  private edgeOf(track: Track, lane: number, level: number, number: number, step: number): Span | null {
    const tile = number < 0 ? undefined : this.store.at({ track: track.name, level, tile: number });
    if (!tile) return null;
    const first = tile.from(lane, track.begin + number * tileWidth(track, level));
    const last = tile.last(lane) - 1;
    return first > last ? null : spanOf(track, lane, tile, step > 0 ? last : first, level);
  }

  /** The free time of a lane around a time, as far as the raw spans around it are at hand; null = not known or not free. */
  gap(track: Track, lane: number, time: number): Range | null {
    const tile = this.store.at({ track: track.name, level: 0, tile: tileAt(track, time) });
    if (!tile) return null;
    let begin = Number.NEGATIVE_INFINITY;
    for (let i = tile.first(lane); i < tile.last(lane); i++) {
      const next = tile.begin[i] as number;
      if (next > time) return Number.isFinite(begin) ? { begin, end: next } : null;
      begin = Math.max(begin, tile.end[i] as number);
    }
    return null;
  }

  /** The span before or after another one in its lane; looked for in as many raw tiles as reasonable. */
  async neighbour(of: Span, step: 1 | -1): Promise<Span | null> {
    const { track, lane } = of;
    const most = tileAt(track, track.end - track.cell / 2);
    let number = tileAt(track, of.begin);
    for (let turns = 0; turns < MOST_TILES_SEARCHED && number >= 0 && number <= most; turns++, number += step) {
      const tile = await this.store.fetch({ track: track.name, level: 0, tile: number });
      const neighbour = step > 0 ? after(tile, lane, of) : before(tile, lane, of);
      if (neighbour >= 0) return spanOf(track, lane, tile, neighbour, 0);
    }
    return null;
  }

  /** The raw span of a lane at a time, or the nearest one that is not farther than `slack`. */
  async raw(track: Track, lane: number, time: number, slack: number): Promise<Span | null> {
    const number = tileAt(track, time);
    const tile = await this.store.fetch({ track: track.name, level: 0, tile: Math.max(0, number) });
    let best = -1;
    let distance = slack;
    for (let i = tile.first(lane); i < tile.last(lane); i++) {
      const begin = tile.begin[i] as number;
      const away = Math.max(begin - time, time - (tile.end[i] as number), 0);
      if (away < distance || (away === distance && (away === 0 || best < 0))) [best, distance] = [i, away];
    }
    return best < 0 ? null : spanOf(track, lane, tile, best, 0);
  }

  /**
   * How many spans reach into an interval, and whether that is exact: it is when everything is loaded and no group of
   * several crosses the start or the end of the interval.
   */
  count(
    track: Track,
    lanes: Iterable<number>,
    range: Range,
    timePerPixel: number,
  ): { count: number; isExact: boolean } {
    const level = levelFor(track, timePerPixel);
    const pieces = this.pieces(track, { begin: range.begin - cellWidth(track, level), end: range.end }, timePerPixel);
    const inside = { begin: Math.max(range.begin, track.begin), end: Math.min(range.end, track.end) };
    let count = 0;
    let isExact =
      pieces.every((piece) => piece.level <= level) &&
      covered(pieces, inside) >= Math.max(0, inside.end - inside.begin) * (1 - 1e-9);
    for (const lane of lanes) {
      pieces.forEach(({ tile, begin: from, end: to }, number) => {
        const last = Math.min(to, range.end);
        for (let i = tile.reaching(lane, range.begin); i < tile.last(lane); i++) {
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
export function isGroup({ track, level, begin, end, count }: Span): boolean {
  return count > 1 || (level > 0 && end - begin < cellWidth(track, level));
}

const MOST_TILES_SEARCHED = 64;

function tileAt(track: Track, time: number): number {
  return Math.floor((time - track.begin) / tileWidth(track, 0));
}

export function spanOf(track: Track, lane: number, tile: Tile, i: number, level: number): Span {
  return {
    track,
    lane,
    begin: tile.begin[i] as number,
    end: tile.end[i] as number,
    kind: tile.kind[i] as number,
    count: tile.count[i] as number,
    item: tile.item[i] as number,
    depth: tile.depth[i] as number,
    level,
  };
}

/** Spans of a lane are in the order of begin, then item: what is before and after follows that. */
function isLess(tile: Tile, i: number, begin: number, item: number): boolean {
  const here = tile.begin[i] as number;
  return here < begin || (here === begin && (tile.item[i] as number) < item);
}

function after(tile: Tile, lane: number, of: Span): number {
  let best = -1;
  for (let i = tile.from(lane, of.begin); i < tile.last(lane); i++) {
    const isAfter = !isLess(tile, i, of.begin, of.item) && (tile.item[i] !== of.item || tile.begin[i] !== of.begin);
    if (!isAfter) continue;
    if (best >= 0 && (tile.begin[i] as number) > (tile.begin[best] as number)) break;
    if (best < 0 || isLess(tile, i, tile.begin[best] as number, tile.item[best] as number)) best = i;
  }
  return best;
}

function before(tile: Tile, lane: number, of: Span): number {
  let best = -1;
  for (let i = tile.first(lane); i < tile.last(lane) && (tile.begin[i] as number) <= of.begin; i++) {
    if (!isLess(tile, i, of.begin, of.item)) continue;
    if (best < 0 || !isLess(tile, i, tile.begin[best] as number, tile.item[best] as number)) best = i;
  }
  return best;
}

/** The kinds of a track that has late ones. */
export const lateKinds = (document: number, track: string): Question<Kind[]> =>
  json<Kind[]>(document, "kinds", { track });

const sets = new Map<number, TrackSet>();

/** The tracks of a document; one set of them, for it keeps its tiles. */
export function tracksOf(document: number): Question<TrackSet> {
  return json<{ tracks: Track[] }>(document, "tracks").as(setFrom, document);
}

function setFrom({ tracks }: { tracks: Track[] }, document: number): TrackSet {
  const tile = async (parameters: Parameters) => Tile.from(await askUncached(document, "spans", parameters));
  const set = sets.get(document) ?? new TrackSet(tracks, tile);
  sets.set(document, set);
  return set;
}
