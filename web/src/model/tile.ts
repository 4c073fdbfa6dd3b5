// The spans of one tile, in the order of their lanes, so that a lane is a slice.
import type { Columns } from "../data/columns";

export class Tile {
  readonly length: number;
  readonly bytes: number;
  /** Whether spans have sub-lanes. */
  readonly isDeep: boolean;
  /** The latest end of the spans of a lane up to each of them. */
  private readonly reach: Float64Array;

  private constructor(
    readonly begin: Float64Array,
    readonly end: Float64Array,
    readonly kind: Uint16Array,
    readonly count: Uint32Array,
    readonly item: Int32Array,
    readonly depth: Uint8Array,
    /** The spans of lane n are those from laneStarts[n] to laneStarts[n + 1]. */
    private readonly laneStarts: Uint32Array,
  ) {
    this.length = begin.length;
    this.isDeep = depth.some((d) => d > 0);
    this.reach = reachOf(end, laneStarts);
    const perSpan = this.reach === end ? 27 : 35;
    this.bytes = begin.length * perSpan + laneStarts.byteLength + 400;
  }

  /** `shift` moves its spans in time. */
  static from(table: Columns, shift = 0): Tile {
    const times = (name: string) => {
      const values = asType(table.numbers(name), Float64Array);
      return shift ? values.map((time) => time + shift) : values;
    };
    return Tile.of({
      lane: asType(table.numbers("lane"), Uint32Array),
      begin: times("begin"),
      end: times("end"),
      kind: asType(table.numbers("kind"), Uint16Array),
      count: asType(table.numbers("count"), Uint32Array),
      item: asType(table.numbers("item"), Int32Array),
      depth: asType(table.numbers("depth"), Uint8Array),
    });
  }

  static of(columns: {
    lane: Uint32Array;
    begin: Float64Array;
    end: Float64Array;
    kind: Uint16Array;
    count: Uint32Array;
    item: Int32Array;
    depth: Uint8Array;
  }): Tile {
    const { lane, begin, end, kind, count, item, depth } = columns;
    const length = lane.length;
    let isSorted = true;
    let most = 0;
    for (let i = 0; i < length; i++) {
      const here = lane[i] as number;
      if (here > most) most = here;
      if (i === 0) continue;
      const before = lane[i - 1] as number;
      if (before > here || (before === here && (begin[i - 1] as number) > (begin[i] as number))) isSorted = false;
    }
    const starts = new Uint32Array(most + 2);
    for (let i = 0; i < length; i++) {
      const next = (lane[i] as number) + 1;
      starts[next] = (starts[next] as number) + 1;
    }
    for (let n = 1; n < starts.length; n++) starts[n] = (starts[n] as number) + (starts[n - 1] as number);
    if (isSorted) return new Tile(begin, end, kind, count, item, depth, starts);
    const order = Uint32Array.from({ length }, (_, i) => i).sort(
      (a, b) => (lane[a] as number) - (lane[b] as number) || (begin[a] as number) - (begin[b] as number) || a - b,
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

  first(lane: number): number {
    return lane + 1 < this.laneStarts.length ? (this.laneStarts[lane] as number) : this.length;
  }

  /** One past the last span of a lane. */
  last(lane: number): number {
    return lane + 1 < this.laneStarts.length ? (this.laneStarts[lane + 1] as number) : this.length;
  }

  /** The first span of a lane that begins at or after a time; `last(lane)` when none does. */
  from(lane: number, time: number): number {
    return this.firstAt(lane, this.begin, time);
  }

  /** The first span of a lane that may reach up to a time; all before it end earlier. */
  reaching(lane: number, time: number): number {
    return this.firstAt(lane, this.reach, time);
  }

  private firstAt(lane: number, rising: Float64Array, time: number): number {
    let low = this.first(lane);
    let high = this.last(lane);
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rising[middle] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The ends themselves where none comes before an earlier one. */
function reachOf(ends: Float64Array, laneStarts: Uint32Array): Float64Array {
  if (areRising(ends, laneStarts)) return ends;
  const reach = new Float64Array(ends.length);
  for (let lane = 0; lane + 1 < laneStarts.length; lane++) {
    let latest = Number.NEGATIVE_INFINITY;
    for (let i = laneStarts[lane] as number; i < (laneStarts[lane + 1] as number); i++) {
      latest = Math.max(latest, ends[i] as number);
      reach[i] = latest;
    }
  }
  return reach;
}

function areRising(ends: Float64Array, laneStarts: Uint32Array): boolean {
  for (let lane = 0; lane + 1 < laneStarts.length; lane++) {
    for (let i = (laneStarts[lane] as number) + 1; i < (laneStarts[lane + 1] as number); i++) {
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
