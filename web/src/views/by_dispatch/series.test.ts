import { expect, test } from "vitest";
import type { Columns } from "../../data/columns";
import { DURATION, rangeOf, tableOf, valuesOf } from "./series";

const NUMBERS: Record<string, number[]> = {
  "17.1.2": [50, Number.NaN, 70],
  duration_ns: [5, 6, 7],
  dispatch: [0, 1, 2],
  dispatch_id: [10, 11, 12],
  kernel: [1, 0, 0],
};
const columns = {
  length: 3,
  has: (name: string) => name in NUMBERS,
  numbers: (name: string) => Float64Array.from(NUMBERS[name] ?? []),
  texts: () => ["", "duration", "17.1.2 duration"],
} as unknown as Columns;

test("only known values are shown, of the chosen kernel", () => {
  expect(valuesOf(columns, "17.1.2", null).map((value) => value.value)).toEqual([50, 70]);
  expect(valuesOf(columns, "17.1.2", 0)).toEqual([{ dispatch: 2, id: 12, kernel: 0, value: 70, isOutlier: true }]);
  expect(valuesOf(columns, DURATION, 0).map((value) => value.isOutlier)).toEqual([true, true]);
  expect(valuesOf(columns, "2.1.0", null)).toEqual([]);
});

test("the table of a metric is the start of its id", () => {
  expect(tableOf("17.1.12")).toBe("17.1");
  expect(tableOf(DURATION)).toBe("");
});

test("ranges hold zero and all values", () => {
  expect(rangeOf([]).high).toBeGreaterThan(0);
  const range = rangeOf(valuesOf(columns, "17.1.2", null));
  expect(range.low).toBe(0);
  expect(range.high).toBeGreaterThan(70);
});
