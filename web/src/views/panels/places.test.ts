import { expect, test } from "vitest";
import { placed } from "./places";

test("boxes stand between zero and the largest value", () => {
  expect(placed({ minimum: 20, q1: 40, median: 50, q3: 60, maximum: 100 })).toEqual({
    low: 20,
    high: 100,
    box: { from: 40, to: 60 },
    median: 50,
  });
});

test("negative values move the zero", () => {
  expect(placed({ minimum: -100, q1: null, median: null, q3: null, maximum: 100 })).toEqual({
    low: 0,
    high: 100,
    box: null,
    median: null,
  });
  // from -4 to 0: -2 lies in the middle
  expect(placed({ minimum: -4, q1: null, median: null, q3: null, maximum: -2 })?.high).toBe(50);
});

test("what does not spread has no box", () => {
  expect(placed({ minimum: 5, q1: 5, median: 5, q3: 5, maximum: 5 })).toBeNull();
  expect(placed({ minimum: null, q1: null, median: null, q3: null, maximum: null })).toBeNull();
});
