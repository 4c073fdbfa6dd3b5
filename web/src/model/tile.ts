// The spans of one tile, in the order of their tracks, so that a track is a slice.
import type { Columns } from "../data/columns";

export class Tile {
  readonly length: number;
  readonly bytes: number;
  /** Whether spans have sub-tracks. */
  readonly isDeep: boolean;
  /** The latest end of the spans of a track up to each of them. */
  private readonly reach: Float64Array;

  private constructor(
    readonly begin: Float64Array,
    readonly end: Float64Array,
    readonly kind: Uint16Array,
    readonly count: Uint32Array,
    readonly item: Int32Array,
    readonly depth: Uint8Array,
    /** The spans of track n are those from trackStarts[n] to trackStarts[n + 1]. */
    private readonly trackStarts: Uint32Array,
  ) {
    this.length = begin.length;
    this.isDeep = depth.some((d) => d > 0);
    this.reach = reachOf(end, trackStarts);
    const perSpan = this.reach === end ? 27 : 35;
    this.bytes = begin.length * perSpan + trackStarts.byteLength + 400;
  }

  /** `shift` moves its spans in time. */
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

  static of(columns: {
    track: Uint32Array;
    begin: Float64Array;
    end: Float64Array;
    kind: Uint16Array;
    count: Uint32Array;
    item: Int32Array;
    depth: Uint8Array;
  }): Tile {
    const { track, begin, end, kind, count, item, depth } = columns;
    const length = track.length;
    let isSorted = true;
    let most = 0;
    for (let i = 0; i < length; i++) {
      const here = track[i] as number;
      if (here > most) most = here;
      if (i === 0) continue;
      const before = track[i - 1] as number;
      if (before > here || (before === here && (begin[i - 1] as number) > (begin[i] as number))) isSorted = false;
    }
    const starts = new Uint32Array(most + 2);
    for (let i = 0; i < length; i++) {
      const next = (track[i] as number) + 1;
      starts[next] = (starts[next] as number) + 1;
    }
    for (let n = 1; n < starts.length; n++) starts[n] = (starts[n] as number) + (starts[n - 1] as number);
    if (isSorted) return new Tile(begin, end, kind, count, item, depth, starts);
    const order = Uint32Array.from({ length }, (_, i) => i).sort(
      (a, b) => (track[a] as number) - (track[b] as number) || (begin[a] as number) - (begin[b] as number) || a - b,
    );
    const moved = <A extends { [n: number]: number; length: number }>(from: A, to: A): A => {
      for (let i = 0; i < length; i++) to[i] = from[order[i] as number] as number;
      return to;
    };
    return new Tile(
      moved(begin, new Float64Array(length)),
      moved(end, new Float64Array(length)),
      moved(kind, new Uint16Array(length)),
      moved(count, new Uint32Array(length)),
      moved(item, new Int32Array(length)),
      moved(depth, new Uint8Array(length)),
      starts,
    );
  }

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

/** The ends themselves where none comes before an earlier one. */
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
