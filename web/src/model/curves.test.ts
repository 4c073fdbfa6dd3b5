import { expect, test } from "vitest";
import { type Bins, binAt, onScreen } from "./curves";

/** Two series in four bins of ten cycles from cycle 100 on. */
const tile = {
  first: 0,
  count: 4,
  mean: [1, 2, Number.NaN, 4, 10, 10, 10, 10],
  low: [0, 2, Number.NaN, 3, 10, 10, 10, 10],
  high: [2, 2, Number.NaN, 9, 10, 10, 10, 10],
};
const parts: Bins[] = [{ begin: 100, width: 10, first: 0, last: 4, tile }];

test("means on screen are weighted by the time that is on screen", () => {
  const { mean, high } = onScreen(parts, 0, { begin: 105, end: 135 });
  // 5 cycles of 1, 10 of 2, none of the gap, 5 of 4
  expect(mean).toBeCloseTo((5 * 1 + 10 * 2 + 5 * 4) / 20);
  expect(high).toBe(9);
});

test("nothing on screen has no mean", () => {
  expect(onScreen([], 0, { begin: 0, end: 10 })).toEqual({ mean: Number.NaN, high: Number.NaN });
});

test("the bin under the pointer", () => {
  expect(binAt(parts, 0, 109.9)).toEqual({ mean: 1, low: 0, high: 2 });
  expect(binAt(parts, 1, 110)).toEqual({ mean: 10, low: 10, high: 10 });
  expect(binAt(parts, 0, 140)).toBeUndefined();
});
