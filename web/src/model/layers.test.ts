import { describe, expect, it, vi } from "vitest";
import { type Layer, LayerSet, type Span } from "./layers";
import { Tile } from "./tile";
import { TileStore } from "./tile_store";

/** track, begin, end, kind, item, depth, count */
type Made = [number, number, number, number, number, number?, number?];

function madeTile(spans: Made[]): Tile {
  const column = (n: number, other = 0) => spans.map((span) => span[n] ?? other);
  return Tile.of({
    track: Uint32Array.from(column(0)),
    begin: Float64Array.from(column(1)),
    end: Float64Array.from(column(2)),
    kind: Uint16Array.from(column(3)),
    item: Int32Array.from(column(4)),
    depth: Uint8Array.from(column(5)),
    count: Uint32Array.from(column(6, 1)),
  });
}

const layer: Layer = {
  name: "instructions",
  title: "Instructions",
  unit: "cycles",
  begin: 0,
  end: 200,
  cell: 1,
  level_count: 2,
  tile_cells: 100,
  track_count: 3,
  tracks: [],
  kinds: [],
};
const first: Made[] = [
  [2, 50, 60, 3, 7],
  [0, 0, 10, 1, 0],
  [0, 12, 40, 2, 1],
  [0, 12, 20, 4, 2, 1],
  [0, 90, 120, 1, 3],
];
const second: Made[] = [
  [0, 90, 120, 1, 3],
  [0, 150, 160, 5, 4],
];

function madeSet(): LayerSet {
  return new LayerSet([layer], async ({ level, tile }) => {
    if (level === 1) return madeTile([[0, 0, 160, 1, -1, 0, 5]]);
    return madeTile(tile === 0 ? first : second);
  });
}

describe("a tile", () => {
  it("gives the spans of a track in order, whatever the order in which they came", () => {
    const tile = madeTile(first);
    const of = (track: number) =>
      Array.from({ length: tile.last(track) - tile.first(track) }, (_, i) => tile.first(track) + i);
    expect(of(0).map((i) => tile.item[i])).toEqual([0, 1, 2, 3]);
    expect(of(1)).toEqual([]);
    expect(of(2).map((i) => tile.item[i])).toEqual([7]);
    expect(of(9)).toEqual([]);
    expect(tile.item[tile.from(0, 11)]).toBe(1);
  });
});

describe("a set of layers", () => {
  it("finds the span at a time, the deepest of those that overlap, and exact gaps", async () => {
    const set = madeSet();
    await set.store.fetch({ layer: layer.name, level: 0, tile: 0 });
    expect(set.spanAt({ layer, track: 0, time: 15 }, 0.1)?.item).toBe(2);
    expect(set.spanAt({ layer, track: 0, time: 30 }, 0.1)?.item).toBe(1);
    expect(set.spanAt({ layer, track: 0, time: 70 }, 0.1)).toBeNull();
    expect(set.gapAt({ layer, track: 0, time: 70 })).toEqual({ begin: 40, end: 90 });
    expect(set.gapAt({ layer, track: 0, time: 130 })).toBeNull();
  });
  it("reads a long span as it is in every tile that it reaches into", async () => {
    const long: Layer = { ...layer, end: 800, level_count: 4 };
    const set = new LayerSet([long], async () => madeTile([[0, 50, 550, 1, 9]]));
    await set.store.fetch({ layer: long.name, level: 1, tile: 1 });
    const found = set.spanAt({ layer: long, track: 0, time: 300 }, 2);
    expect([found?.begin, found?.end, found?.count, found?.item, found?.level]).toEqual([50, 550, 1, 9, 1]);
  });
  it("joins groups that tiles cut, as far as they are at hand, and nothing else", async () => {
    const long: Layer = { ...layer, end: 800, level_count: 4 };
    const tiles: Made[][] = [
      [
        [0, 100, 104, 7, -1, 0, 2],
        [0, 190, 199, 1, -1, 0, 3],
      ],
      [[0, 200, 399, 1, -1, 0, 40]],
      [
        [0, 401, 402, 1, 77],
        [0, 404, 410, 2, 78],
      ],
      [],
    ];
    const set = new LayerSet([long], async ({ tile }) => madeTile(tiles[Number(tile)] as Made[]));
    for (const tile of [1, 2]) await set.store.fetch({ layer: long.name, level: 1, tile });
    const read = (time: number) => {
      const found = set.spanAt({ layer: long, track: 0, time }, 1, 2);
      return [found?.begin, found?.end, found?.count, found?.item];
    };
    expect(read(300)).toEqual([200, 399, 40, -1]); // two cells lie between it and the next one
    expect(read(401.5)).toEqual([401, 402, 1, 77]);
    await set.store.fetch({ layer: long.name, level: 1, tile: 0 });
    expect(read(300)).toEqual([190, 399, 43, -1]);
    expect(read(195)).toEqual([190, 399, 43, -1]);
    expect(read(101)).toEqual([100, 104, 2, -1]);
  });
  it("walks through a track across tiles, both ways, each span once", async () => {
    const set = madeSet();
    let span: Span | null = await set.rawSpanAt({ layer, track: 0, time: 5 }, 0);
    const seen: number[] = [];
    for (; span; span = await set.neighbourOf(span, 1)) seen.push(span.item);
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    span = await set.rawSpanAt({ layer, track: 0, time: 155 }, 0);
    const back: number[] = [];
    for (; span; span = await set.neighbourOf(span, -1)) back.push(span.item);
    expect(back).toEqual([4, 3, 2, 1, 0]);
  });
  it("counts what reaches into an interval, and says when that is not exact", async () => {
    const set = madeSet();
    await set.store.fetch({ layer: layer.name, level: 0, tile: 0 });
    expect(set.countIn({ layer, tracks: [0], range: { begin: 95, end: 155 } }, 0.5)).toEqual({
      count: 1,
      isExact: false,
    });
    await set.store.fetch({ layer: layer.name, level: 0, tile: 1 });
    expect(set.countIn({ layer, tracks: [0], range: { begin: 0, end: 200 } }, 0.5)).toEqual({
      count: 5,
      isExact: true,
    });
    expect(set.countIn({ layer, tracks: [0], range: { begin: 95, end: 155 } }, 0.5)).toEqual({
      count: 2,
      isExact: true,
    });
    expect(set.countIn({ layer, tracks: [0], range: { begin: 100, end: 110 } }, 0.5)).toEqual({
      count: 1,
      isExact: true,
    });
    expect(set.countIn({ layer, tracks: [0, 2], range: { begin: 15, end: 55 } }, 0.5)).toEqual({
      count: 3,
      isExact: true,
    });
    await set.store.fetch({ layer: layer.name, level: 1, tile: 0 });
    expect(set.countIn({ layer, tracks: [0], range: { begin: 0, end: 200 } }, 50)).toEqual({ count: 5, isExact: true });
    expect(set.countIn({ layer, tracks: [0], range: { begin: 0, end: 100 } }, 50)).toEqual({
      count: 5,
      isExact: false,
    });
  });
});

describe("the store of tiles", () => {
  const wanted = (tile: number) => ({ layer: "t", level: 0, tile });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  it("has few requests in flight and drops what nobody wants", async () => {
    const asked: number[] = [];
    const answers = new Map<number, (tile: Tile) => void>();
    const get = ({ tile }: { tile: number }) => {
      asked.push(tile);
      return new Promise<Tile>((resolve) => answers.set(tile, resolve));
    };
    const store = new TileStore(get, { inFlight: 2 });
    const owner = {};
    store.want(owner, [0, 1, 2, 3].map(wanted));
    expect(asked).toEqual([0, 1]);
    store.want(owner, [8, 9].map(wanted));
    answers.get(0)?.(madeTile(first));
    await settle();
    expect(asked).toEqual([0, 1, 8]);
    answers.get(1)?.(madeTile(first));
    await settle();
    expect(asked).toEqual([0, 1, 8, 9]);
    expect(store.turn.value).toBe(2);
  });
  it("keeps no more bytes than allowed, the last used ones", async () => {
    const size = madeTile(first).bytes;
    const store = new TileStore(async () => madeTile(first), { bytes: 3 * size });
    for (const tile of [0, 1, 2]) await store.fetch(wanted(tile));
    store.at(wanted(0));
    await store.fetch(wanted(3));
    expect([0, 1, 2, 3].map((tile) => store.at(wanted(tile)) !== undefined)).toEqual([true, false, true, true]);
    expect(store.heldBytes).toBe(3 * size);
  });
  it("says why a tile cannot be had and asks again later", async () => {
    let turns = 0;
    const store = new TileStore(
      async () => {
        if (turns++ === 0) throw new Error("gone");
        return madeTile(first);
      },
      { retryMs: 100 },
    );
    const owner = {};
    store.want(owner, [wanted(0)]);
    await settle();
    expect(store.problem.value?.what).toContain("gone");
    const seen = store.turn.value;
    await vi.waitFor(() => expect(store.turn.value).toBeGreaterThan(seen), 10_000);
    store.want(owner, [wanted(0)]);
    await settle();
    expect(store.problem.value).toBeNull();
    expect(store.at(wanted(0))).toBeDefined();
  });
});
