import { expect, test } from "vitest";
import type { HeatMapPlacesRow } from "../../data/answers.gen";
import { gridOf, placeName, scaleOf, shareOf } from "./grid";

/** A CU of SE 0, unless told otherwise. */
const place = (changes: Partial<HeatMapPlacesRow>): HeatMapPlacesRow =>
  ({ xcc: null, se: 0, sa: null, cu: 0, simd: null, ...changes }) as HeatMapPlacesRow;

test("a row per shader engine and array, a column per unit from 0 on", () => {
  const grid = gridOf([place({ cu: 1 }), place({ cu: 4 }), place({ se: 2, cu: 0 })]);
  expect(grid.rows).toEqual(["SE 0", "SE 2"]);
  expect(grid.units).toEqual([0, 1, 2, 3, 4]);
  expect(grid.cells.map(({ row, column }) => [row, column])).toEqual([
    [0, 1],
    [0, 4],
    [1, 0],
  ]);
});

test("SIMDs share the column of their unit", () => {
  const grid = gridOf([place({ cu: 1, simd: 0 }), place({ cu: 1, simd: 3 })]);
  expect(grid.parts).toBe(4);
  expect(grid.cells.map(({ column }) => column)).toEqual([4, 7]);
});

test("the byte of an RDNA unit names its array", () => {
  // 131 = 128 + 3: bit 7 is the shader array
  expect(placeName(place({ sa: 1, cu: 131, simd: 2 }))).toBe("SE 0 · SA 1 · WGP 3 · SIMD 2");
  expect(gridOf([place({ sa: 0, cu: 3 }), place({ sa: 1, cu: 131 })]).rows).toEqual(["SE 0 · SA 0", "SE 0 · SA 1"]);
  expect(placeName(place({ xcc: 1, se: 5, cu: 7 }))).toBe("XCC 1 · SE 5 · CU 7");
});

test("amounts start at 0, durations at the shortest, and equal values are all high", () => {
  const places = [
    place({ wave_count: 4, duration_cycles_mean: 90 }),
    place({ wave_count: 8, duration_cycles_mean: 100 }),
  ];
  expect(scaleOf(places, "wave_count")).toEqual({ low: 0, high: 8 });
  const scale = scaleOf(places, "duration_cycles_mean");
  expect(scale).toEqual({ low: 90, high: 100 });
  expect([shareOf(90, scale), shareOf(95, scale), shareOf(5, { low: 5, high: 5 })]).toEqual([0, 0.5, 1]);
});
