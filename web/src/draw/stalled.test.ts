import { describe, expect, it } from "vitest";
import type { Bins, CurveTile } from "../model/curves";
import { pixelOf } from "./painter";
import { colourOf, mixed } from "./palette";
import { ALL, columnBins, PALER, rasterStalled, rowsFor } from "./stalled";
import { longestRun } from "./timeline_spans";

const FULL = pixelOf("#f0a93b");

/** Two tracks of four bins of 10 cycles, from cycle 100 on. */
const tile: CurveTile = (() => {
  const mean = Uint8Array.from([0, ALL, ALL / 2, 0, ALL, ALL, ALL, ALL]);
  return { first: 0, count: 4, mean, low: mean, high: mean };
})();
const part: Bins = { begin: 100, width: 10, first: 0, last: 4, tile };

/** Columns of 10 cycles from cycle 100 on, in each of which one bin lies. */
const columns = () => columnBins([part], { begin: 100, end: 140 }, 4);

const picture = (columns: number, rows: number) => ({ columns, pixels: new Uint32Array(columns * rows).fill(FULL) });

describe("the stalled part of a track", () => {
  it("is as high as its share, from above", () => {
    const raster = picture(4, 4);
    const stalled = { bins: columns(), series: 0, reasons: null, isDeep: false };
    rasterStalled({ raster, firstRow: 0, rowCount: 4 }, stalled);
    const pale = pixelOf(mixed("#f0a93b", colourOf("EMPTY"), PALER));
    const column = (x: number) => [0, 1, 2, 3].map((row) => raster.pixels[row * 4 + x]);
    expect(column(0)).toEqual([FULL, FULL, FULL, FULL]);
    expect(column(1)).toEqual([pale, pale, pale, pale]);
    expect(column(2)).toEqual([pale, pale, FULL, FULL]);
  });
  it("has the colour of its reason, and none where nothing is", () => {
    const raster = picture(4, 1);
    raster.pixels[3] = 0;
    const reasons = Uint32Array.from([7, 7, 0, 9]);
    rasterStalled({ raster, firstRow: 0, rowCount: 1 }, { bins: columns(), series: 1, reasons, isDeep: false });
    expect([...raster.pixels]).toEqual([7, 7, 7, 0]);
  });
  it("leaves columns alone of which nothing is known", () => {
    const bins = columnBins([part], { begin: 80, end: 160 }, 8);
    expect(bins.segments.map(({ first, last }) => [first, last])).toEqual([[2, 6]]);
    expect([...bins.bin].slice(2, 6)).toEqual([0, 1, 2, 3]);
  });
  it("is drawn in every row where spans lie side by side", () => {
    const raster = picture(4, 2);
    raster.pixels.fill(0, 0, 4);
    const stalled = { bins: columns(), series: 1, reasons: null, isDeep: true };
    rasterStalled({ raster, firstRow: 0, rowCount: 2 }, stalled);
    expect([...raster.pixels.subarray(0, 4)]).toEqual([0, 0, 0, 0]);
    expect(raster.pixels[4]).toBe(pixelOf(mixed("#f0a93b", colourOf("EMPTY"), PALER)));
  });
  it("has as many rows as can be seen", () => {
    expect([0.5, 3.7, 40].map(rowsFor)).toEqual([1, 3, 16]);
  });
});

it("puts labels on the widest part of one colour", () => {
  const pixels = Uint32Array.from([1, 1, 2, 2, 2, 3]);
  expect(longestRun(pixels, 0, 6)).toEqual({ first: 2, last: 5, colour: 2 });
  expect(longestRun(pixels, 0, 3)).toEqual({ first: 0, last: 2, colour: 1 });
});
