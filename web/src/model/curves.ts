// Curves over time: which there are, and their tiles. A tile holds, per series and bin, mean, smallest and largest value.
import { signal } from "@preact/signals";
import { askTable, json, type Parameters, type Question } from "../data/ask";
import type { Columns } from "../data/columns";
import type { AnswerError } from "../data/source";
import { current } from "./document";
import { cover, type Levels, levelFor, needed, type Piece, type TileAddress } from "./levels";
import { asAnswerError } from "./loaded";
import type { Range } from "./selection";

export interface CurveSeries {
  label: string;
  /** What it is of: se, cu, kernel, state or counter. */
  keys: Record<string, string | number | null>;
}

export interface CurveSet extends Levels {
  name: string;
  unit: string;
  /** The shader engine that it is restricted to. */
  se: number | null;
  series: CurveSeries[];
  /** Definitions, for derived counters that are not the built-in ones. */
  text?: string | undefined;
}

interface Names extends Levels {
  curves: Omit<CurveSet, keyof Levels>[];
}

/** All curves of a document. */
export function curvesOf(document: number): Question<CurveSet[]> {
  return json<Names>(document, "curve_names").as(setsFrom);
}

function setsFrom({ curves, ...levels }: Names): CurveSet[] {
  return curves.map((set) => ({ ...levels, ...set }));
}

export interface CurveTile {
  /** Number of the first bin on its level. */
  first: number;
  /** Bins; the values of series s stand from s * count on. NaN = no value. */
  count: number;
  mean: ArrayLike<number>;
  low: ArrayLike<number>;
  high: ArrayLike<number>;
}

function tileFrom(table: Columns, seriesCount: number): CurveTile {
  const count = seriesCount ? table.length / seriesCount : 0;
  return {
    first: count ? (table.numbers("bin")[0] as number) : 0,
    count,
    mean: table.numbers("value"),
    low: table.numbers("low"),
    high: table.numbers("high"),
  };
}

/** Some bins of a tile, from `first` to before `last`: bin i reaches from begin + i * width for its width. */
export interface Bins {
  begin: number;
  width: number;
  first: number;
  last: number;
  tile: CurveTile;
}

/** Tiles of one set of curves that stay loaded, and their bytes: curves of a hundred tracks have tiles of half a megabyte. */
const MOST_TILES = 200;
const MOST_BYTES = 16 << 20;

/** Requests at a time: when one of them is answered, the next drawing asks for what it still misses. */
const MOST_FLYING = 4;
/** What failed is not asked for again before. */
const RETRY_MS = 5_000;

function bytesOf({ mean, low, high }: CurveTile): number {
  const bytes = (values: ArrayLike<number>) => (ArrayBuffer.isView(values) ? values.byteLength : 8 * values.length);
  return [...new Set([mean, low, high])].reduce((sum, values) => sum + bytes(values), 0);
}

/** The tiles of one set of curves, asked for when they are wanted. */
export class CurveTiles {
  /** Grows whenever a tile has arrived: what reads it is drawn again. */
  readonly turn = signal(0);
  readonly problem = signal<AnswerError | null>(null);
  /** By `keyOf`, like what follows. */
  private readonly tiles = new Map<string, CurveTile>();
  private bytes = 0;
  /** When each last failed (`Date.now`). */
  private readonly failed = new Map<string, number>();
  /** On their way. */
  private readonly flying = new Set<string>();
  private stop = new AbortController();

  constructor(
    readonly set: CurveSet,
    /** How to get a tile; absent = by the name of the set. */
    private readonly get: (address: TileAddress, stop: AbortSignal) => Promise<CurveTile> = (address, stop) =>
      askTile(set, address, stop),
  ) {}

  /** What draws it is gone: tiles on their way are asked no longer. */
  close(): void {
    this.stop.abort();
    this.stop = new AbortController();
  }

  /** What is loaded for a window of this many pixels; asks for what is missing. */
  inWindow(window: Range, pixels: number): Bins[] {
    void this.turn.value;
    const { set } = this;
    const level = levelFor(set, (window.end - window.begin) / Math.max(pixels, 1));
    this.want({ level: set.level_count - 1, tile: 0 });
    for (const address of needed(set, level, window)) this.want(address);
    return cover(set, level, window, (address) => this.tiles.get(keyOf(address)))
      .map((piece) => binsOf(set, piece, window))
      .filter((bins) => bins.last > bins.first);
  }

  /** The whole time in one tile. */
  whole(): CurveTile | undefined {
    void this.turn.value;
    const address = { level: this.set.level_count - 1, tile: 0 };
    this.want(address);
    return this.tiles.get(keyOf(address));
  }

  /** The exact value of every series at a cycle, once the tile of single cycles is here. */
  exactAt(time: number): number[] | undefined {
    void this.turn.value;
    const { set } = this;
    const cycle = Math.floor(time) - set.begin;
    if (cycle < 0 || cycle >= set.end - set.begin) return undefined;
    const tile = this.tiles.get(keyOf({ level: 0, tile: Math.floor(cycle / set.tile_cells) }));
    return tile && set.series.map((_, s) => tile.mean[s * tile.count + cycle - tile.first] as number);
  }

  /** Ask for the tile of single cycles around a time. */
  wantExact(time: number): void {
    const { set } = this;
    if (time < set.begin || time >= set.end) return;
    // Means stand in for what cannot be loaded: nothing to report.
    this.want({ level: 0, tile: Math.floor((Math.floor(time) - set.begin) / set.tile_cells) }, () => {});
  }

  /** Asks for a tile unless it is here, on its way, or failed just now; `report` gets what goes wrong. */
  private want(address: TileAddress, report = this.showProblem): void {
    const key = keyOf(address);
    const { set } = this;
    if (this.tiles.has(key) || this.flying.has(key) || this.flying.size >= MOST_FLYING || !set.series.length) return;
    if (Date.now() - (this.failed.get(key) ?? Number.NEGATIVE_INFINITY) < RETRY_MS) return;
    this.flying.add(key);
    const { signal } = this.stop;
    this.get(address, signal).then(
      (tile) => {
        this.keep(key, tile);
        if (this.problem.peek()) this.problem.value = null;
        this.landed(key);
      },
      (error: unknown) => {
        if (!signal.aborted) {
          this.failed.set(key, Date.now());
          report(asAnswerError(error));
        }
        this.landed(key);
      },
    );
  }

  private readonly showProblem = (error: AnswerError): void => {
    this.problem.value = error;
  };

  private keep(key: string, tile: CurveTile): void {
    this.tiles.set(key, tile);
    this.bytes += bytesOf(tile);
    for (const [oldest, old] of this.tiles) {
      if ((this.tiles.size <= MOST_TILES && this.bytes <= MOST_BYTES) || oldest === key) break;
      this.tiles.delete(oldest);
      this.bytes -= bytesOf(old);
    }
  }

  private landed(key: string): void {
    this.flying.delete(key);
    this.turn.value++;
  }
}

async function askTile(set: CurveSet, { level, tile }: TileAddress, stop: AbortSignal): Promise<CurveTile> {
  const asked: Parameters = { name: set.name };
  if (set.se !== null) asked.se = set.se;
  if (set.text !== undefined) asked.text = set.text;
  const table = await askTable(current.peek(), "curves", { ...asked, level, tile }, stop);
  return tileFrom(table, set.series.length);
}

const keyOf = ({ level, tile }: TileAddress) => `${level}/${tile}`;

/** The bins of a piece that reach into the window. */
function binsOf(set: CurveSet, piece: Piece<CurveTile>, window: Range): Bins {
  const width = set.cell * 2 ** piece.level;
  const begin = set.begin + piece.tile.first * width;
  const bin = (time: number) => (time - begin) / width;
  const from = Math.max(piece.begin, window.begin);
  const to = Math.min(piece.end, window.end, set.end);
  const first = Math.max(0, Math.floor(bin(from) + 1e-9));
  return { begin, width, first, last: Math.min(piece.tile.count, Math.ceil(bin(to) - 1e-9)), tile: piece.tile };
}

/** Time-weighted mean and largest value of a series in the window, from what is on screen; NaN = nothing is. */
export function onScreen(parts: Bins[], series: number, window: Range): { mean: number; high: number } {
  let [sum, time, high] = [0, 0, Number.NaN];
  for (const { tile, begin, width, first, last } of parts) {
    for (let i = first; i < last; i++) {
      const mean = tile.mean[series * tile.count + i] as number;
      const from = Math.max(begin + i * width, window.begin);
      const length = Math.min(begin + (i + 1) * width, window.end) - from;
      if (Number.isNaN(mean) || length <= 0) continue;
      sum += mean * length;
      time += length;
      const top = tile.high[series * tile.count + i] as number;
      if (!(top <= high)) high = top;
    }
  }
  return { mean: time ? sum / time : Number.NaN, high };
}

/** The bin of a series at a time: mean and range; undefined when nothing is at hand. */
export function binAt(
  parts: Bins[],
  series: number,
  time: number,
): { mean: number; low: number; high: number } | undefined {
  for (const { tile, begin, width, first, last } of parts) {
    const bin = Math.floor((time - begin) / width);
    if (bin < first || bin >= last) continue;
    const at = series * tile.count + bin;
    return { mean: tile.mean[at] as number, low: tile.low[at] as number, high: tile.high[at] as number };
  }
  return undefined;
}

/** Where the pointer is, in time: one for all charts, so that their dotted lines go together. */
export const cursor = signal<number | null>(null);
