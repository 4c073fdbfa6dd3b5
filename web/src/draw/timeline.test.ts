import { describe, expect, it } from "vitest";
import type { Layer } from "../model/layers";
import { Tile } from "../model/tile";
import { KindColours, raster, rasterIntervals, rasterTrack } from "./raster";
import { shareArea } from "./shares";
import { durationText, momentText, roundStep, tickNanoseconds, ticks } from "./ticks";
import { HEADING, layOutTracks, rowsBetween, stripAt, type TimelineRow } from "./track_layout";

describe("ticks", () => {
  it("stand at round numbers, far enough apart", () => {
    const { step, times } = ticks(1234, 5678, 1000, 95);
    expect(step).toBe(500);
    expect(times).toEqual([1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500]);
  });
  it("are never finer than asked", () => {
    expect(ticks(10, 12, 1000, 95, { leastStep: 1 })).toEqual({ step: 1, times: [10, 11, 12] });
  });
  it("have steps of 1, 2 and 5", () => {
    expect([0.11, 1, 1.5, 2.1, 7, 1000].map(roundStep)).toEqual([0.2, 1, 2, 5, 10, 1000]);
  });
  it("tell nanoseconds with as many digits as the step needs", () => {
    expect(tickNanoseconds(2500, 500)).toBe("2.5 µs");
    expect(tickNanoseconds(1_000_000, 200)).toBe("1.0000 ms");
    expect(tickNanoseconds(30, 10)).toBe("30 ns");
  });
  it("count from the start, and tell the absolute time too", () => {
    expect(momentText(109_704, "cycles", 109_696)).toBe("8 (absolute 109,704)");
    expect(momentText(1500, "ns", 0)).toBe("1.500 µs");
    expect(ticks(109_696, 129_696, 1000, 95, { origin: 109_696 }).times[1]).toBe(111_696);
  });
  it("lengths have both units when the clock is known", () => {
    expect(durationText(4200, "cycles", 2100)).toBe("4,200 cycles (2.000 µs)");
    expect(durationText(64, "cycles", null)).toBe("64 cycles");
    expect(durationText(1500, "ns", null)).toBe("1.500 µs");
  });
});

function tileOf(spans: [track: number, begin: number, end: number, kind: number, depth: number][]): Tile {
  const column = (n: number) => spans.map((span) => span[n] as number);
  return Tile.of({
    track: Uint32Array.from(column(0)),
    begin: Float64Array.from(column(1)),
    end: Float64Array.from(column(2)),
    kind: Uint16Array.from(column(3)),
    depth: Uint8Array.from(column(4)),
    item: new Int32Array(spans.length),
    count: new Uint32Array(spans.length).fill(1),
  });
}

describe("the raster of a track", () => {
  const colours = new KindColours((kind) => 0x11 * kind);
  const window = { begin: 100, end: 110 };
  const piece = (tile: Tile, begin = 0, end = 1000, level = 1) => [{ tile, level, begin, end }];
  it("colours the pixels of its spans", () => {
    const target = raster(10, 2);
    const tile = tileOf([
      [3, 90, 102, 1, 0],
      [3, 104, 105, 2, 0],
      [4, 100, 110, 3, 0],
    ]);
    rasterTrack({ raster: target, firstRow: 1, rowCount: 1, window }, { pieces: piece(tile), track: 3, colours });
    expect([...target.pixels]).toEqual([...new Array(10).fill(0), 0x11, 0, 0, 0, 0x22, 0, 0, 0, 0, 0]);
  });
  it("shows an instant as one pixel, and only what lies in the piece", () => {
    const target = raster(10, 1);
    const tile = tileOf([
      [0, 100, 110, 1, 0],
      [0, 107, 107, 2, 0],
    ]);
    rasterTrack(
      { raster: target, firstRow: 0, rowCount: 1, window },
      { pieces: piece(tile, 102, 109), track: 0, colours },
    );
    expect([...target.pixels]).toEqual([0, 0, 0x11, 0x11, 0x11, 0x11, 0x11, 0x22, 0x11, 0]);
  });
  it("gives deeper spans the lower rows and a gap behind wide single spans", () => {
    const target = raster(10, 2);
    const tile = tileOf([
      [0, 100, 105, 1, 0],
      [0, 100, 102, 2, 1],
    ]);
    rasterTrack(
      { raster: target, firstRow: 0, rowCount: 2, window },
      { pieces: piece(tile, 0, 1000, 0), track: 0, colours },
    );
    expect([...target.pixels.subarray(0, 6)]).toEqual([0x11, 0x11, 0x11, 0x11, 0, 0]);
    expect([...target.pixels.subarray(10, 16)]).toEqual([0x22, 0x22, 0x11, 0x11, 0, 0]);
  });
  it("shows intervals behind", () => {
    const target = raster(10, 1);
    rasterIntervals({ raster: target, firstRow: 0, rowCount: 1, window }, { begins: [101], ends: [103] }, 0x99);
    expect([...target.pixels]).toEqual([0, 0x99, 0x99, 0, 0, 0, 0, 0, 0, 0]);
  });
});

describe("the area of a share", () => {
  const tile = { first: 0, count: 3, mean: [0.5, 0.25, 1, 0.1, 0.75, 0], low: [], high: [] };
  const parts = [{ begin: 100, width: 10, first: 0, last: 3, tile }];
  const place = { y: 40, height: 20 };
  const area = (points: number[]) => {
    let sum = 0;
    for (let i = 0; i + 3 < points.length; i += 2) {
      const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = points.slice(i, i + 4);
      sum += ((x1 - x0) * (60 - y0 + 60 - y1)) / 2;
    }
    return sum;
  };
  it("is as large as the share", () => {
    const points = shareArea(parts, { series: [0], of: 1 }, place, (time) => time - 100);
    expect(points).toEqual([0, 60, 0, 50, 10, 50, 10, 55, 20, 55, 20, 40, 30, 40, 30, 60]);
    expect(area(points)).toBeCloseTo(30 * 20 * ((0.5 + 0.25 + 1) / 3));
  });
  it("of several curves is that of their mean", () => {
    const points = shareArea(parts, { series: [0, 1], of: 2 }, place, (time) => time - 100);
    expect(area(points)).toBeCloseTo(30 * 20 * ((0.3 + 0.5 + 0.5) / 3));
    expect(shareArea([], { series: [0], of: 1 }, place, (time) => time)).toEqual([]);
  });
});

describe("tracks", () => {
  const layer = { name: "t" } as Layer;
  const row = (track: number, ...path: string[]): TimelineRow => ({
    key: String(track),
    label: `${track}`,
    path,
    strips: [
      { layer, track },
      { layer, track: track + 100, fixed: 3 },
    ],
  });
  const rows = [row(0, "SE 0", "SIMD 0"), row(1, "SE 0", "SIMD 0"), row(2, "SE 0", "SIMD 1"), row(3, "SE 1", "SIMD 0")];
  it("stand below each other, groups of the outermost level with a heading", () => {
    const layout = layOutTracks(rows, 20, new Set());
    expect(layout.rows.map(({ y }) => y)).toEqual([HEADING, HEADING + 20, HEADING + 40, 2 * HEADING + 60]);
    expect(layout.height).toBe(2 * HEADING + 80);
    expect(layout.groups.map(({ label, level, height }) => [label, level, height])).toEqual([
      ["SE 0", 0, HEADING + 60],
      ["SIMD 0", 1, 40],
      ["SIMD 1", 1, 20],
      ["SE 1", 0, HEADING + 20],
      ["SIMD 0", 1, 20],
    ]);
    expect(layout.rows[0]?.strips.map(({ y, height }) => [y, height])).toEqual([
      [HEADING, 16],
      [HEADING + 16, 3],
    ]);
  });
  it("fold into one row that shows them all", () => {
    const layout = layOutTracks(rows, 20, new Set(["SE 0"]));
    expect(layout.rows.map(({ row, height }) => [row.label, height])).toEqual([
      ["3 tracks", HEADING],
      ["3", 20],
    ]);
    expect(layout.rows[0]?.strips.map(({ track }) => track)).toEqual([0, 1, 2]);
  });
  it("are found by their y", () => {
    const layout = layOutTracks(rows, 20, new Set());
    expect(rowsBetween(layout, HEADING + 25, HEADING + 45)).toEqual([1, 3]);
    expect(stripAt(layout, HEADING + 25)?.track).toBe(1);
    expect(stripAt(layout, HEADING + 37)?.track).toBe(101);
    expect(stripAt(layout, 3)).toBeNull();
  });
});
