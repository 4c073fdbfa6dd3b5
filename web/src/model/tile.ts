// The spans of one tile as columns, in the order of their tracks, so that a track is a slice and a time is found in it by
// bisection.
import type { Columns } from "../data/columns";

/** Columns of spans; entry i of each belongs to span i. */
interface SpanColumns {
  begin: Float64Array;
  end: Float64Array;
  kind: Uint16Array;
  /** How many spans it stands for. */
  count: Uint32Array;
  /** Number of the thing in its table; -1 = it stands for several. */
  item: Int32Array;
  /** How many spans of its track it lies inside of. */
  depth: Uint8Array;
}

/** Bytes of a span in all columns, and of its entry in `reach`; and what a tile takes besides, about. */
const BYTES_PER_SPAN = 27;
const BYTES_PER_REACH = 8;
const BYTES_PER_TILE = 400;

export class Tile implements SpanColumns {
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly kind: Uint16Array;
  readonly count: Uint32Array;
  readonly item: Int32Array;
  readonly depth: Uint8Array;
  readonly length: number;
  readonly bytes: number;
  /** Whether spans have sub-tracks. */
  readonly isDeep: boolean;
  /** The latest end of the spans of a track up to each of them: rising, so that it can be searched. */
  private readonly reach: Float64Array;

  private constructor(
    columns: SpanColumns,
    /** The spans of track n are those from trackStarts[n] to before trackStarts[n + 1], by their begin. */
    private readonly trackStarts: Uint32Array,
  ) {
    this.begin = columns.begin;
    this.end = columns.end;
    this.kind = columns.kind;
    this.count = columns.count;
    this.item = columns.item;
    this.depth = columns.depth;
    this.length = columns.begin.length;
    this.isDeep = columns.depth.some((depth) => depth > 0);
    this.reach = reachOf(columns.end, trackStarts);
    const perSpan = BYTES_PER_SPAN + (this.reach === this.end ? 0 : BYTES_PER_REACH);
    this.bytes = this.length * perSpan + trackStarts.byteLength + BYTES_PER_TILE;
  }

  /** A tile as the server answers it; `shift` moves its spans in time. */
  static from(table: Columns, shift = 0): Tile {
    const times = (name: string) => {
      const values = asType(table.numbers(name), Float64Array);
      return shift ? values.map((time) => time + shift) : values;
    };
    return Tile.of({
      track: asType(table.numbers("track"), Uint32Array),
      begin: times("begin"),
      end: times("end"),
      kind: asType(table.numbers("kind"), Uint16Array),
      count: asType(table.numbers("count"), Uint32Array),
      item: asType(table.numbers("item"), Int32Array),
      depth: asType(table.numbers("depth"), Uint8Array),
    });
  }

  /** A tile of spans in any order: they are sorted by track, then by begin, unless they are already. */
  static of({ track, ...columns }: SpanColumns & { track: Uint32Array }): Tile {
    const trackStarts = startsOf(track);
    if (isSorted(track, columns.begin)) return new Tile(columns, trackStarts);
    const { length } = track;
    const { begin, end, kind, count, item, depth } = columns;
    const order = Uint32Array.from({ length }, (_, i) => i).sort(
      (a, b) => (track[a] as number) - (track[b] as number) || (begin[a] as number) - (begin[b] as number) || a - b,
    );
    const inOrder = <A extends { [n: number]: number; length: number }>(from: A, to: A): A => {
      for (let i = 0; i < length; i++) to[i] = from[order[i] as number] as number;
      return to;
    };
    const sorted = {
      begin: inOrder(begin, new Float64Array(length)),
      end: inOrder(end, new Float64Array(length)),
      kind: inOrder(kind, new Uint16Array(length)),
      count: inOrder(count, new Uint32Array(length)),
      item: inOrder(item, new Int32Array(length)),
      depth: inOrder(depth, new Uint8Array(length)),
    };
    return new Tile(sorted, trackStarts);
  }

  /** The first span of a track. */
  first(track: number): number {
    return track + 1 < this.trackStarts.length ? (this.trackStarts[track] as number) : this.length;
  }

  /** One past the last span of a track. */
  last(track: number): number {
    return track + 1 < this.trackStarts.length ? (this.trackStarts[track + 1] as number) : this.length;
  }

  /** The first span of a track that begins at or after a time; `last(track)` when none does. */
  from(track: number, time: number): number {
    return this.firstAt(track, this.begin, time);
  }

  /** The first span of a track that may reach up to a time; all before it end earlier. */
  reaching(track: number, time: number): number {
    return this.firstAt(track, this.reach, time);
  }

  private firstAt(track: number, rising: Float64Array, time: number): number {
    let low = this.first(track);
    let high = this.last(track);
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rising[middle] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isSorted(track: Uint32Array, begin: Float64Array): boolean {
  for (let i = 1; i < track.length; i++) {
    const [before, here] = [track[i - 1] as number, track[i] as number];
    if (before > here || (before === here && (begin[i - 1] as number) > (begin[i] as number))) return false;
  }
  return true;
}

/** Where the spans of each track start once they are sorted by track; one entry more than there are tracks. */
function startsOf(tracks: Uint32Array): Uint32Array {
  const lastTrack = tracks.reduce((most, track) => Math.max(most, track), 0);
  const starts = new Uint32Array(lastTrack + 2);
  for (const track of tracks) starts[track + 1] = (starts[track + 1] as number) + 1; // how many the track before has
  for (let n = 1; n < starts.length; n++) starts[n] = (starts[n] as number) + (starts[n - 1] as number);
  return starts;
}

/** The latest end so far in each track; the ends themselves where they rise, as without nested spans. */
function reachOf(ends: Float64Array, trackStarts: Uint32Array): Float64Array {
  if (areRising(ends, trackStarts)) return ends;
  const reach = new Float64Array(ends.length);
  for (let track = 0; track + 1 < trackStarts.length; track++) {
    let latest = Number.NEGATIVE_INFINITY;
    for (let i = trackStarts[track] as number; i < (trackStarts[track + 1] as number); i++) {
      latest = Math.max(latest, ends[i] as number);
      reach[i] = latest;
    }
  }
  return reach;
}

function areRising(ends: Float64Array, trackStarts: Uint32Array): boolean {
  for (let track = 0; track + 1 < trackStarts.length; track++) {
    for (let i = (trackStarts[track] as number) + 1; i < (trackStarts[track + 1] as number); i++) {
      if ((ends[i] as number) < (ends[i - 1] as number)) return false;
    }
  }
  return true;
}

type Typed = Float64Array | Uint16Array | Uint32Array | Int32Array | Uint8Array;

/** A copy where the values lie in the answer: one column would keep all of it in memory. */
function asType<A extends Typed>(values: ArrayLike<number>, type: { new (values: ArrayLike<number>): A }): A {
  const isAlone = values instanceof type && values.byteLength === values.buffer.byteLength;
  return isAlone ? values : new type(values);
}
