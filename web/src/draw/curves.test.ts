import { expect, test } from "vitest";
import type { Bins } from "../model/curves";
import { ChartFrame, columnsOf, paintCurve, tickValue, valueRange } from "./curves";
import { SvgPainter } from "./painter";

const bins = (begin: number, mean: number[], low = mean, high = mean): Bins => ({
  begin,
  width: 10,
  first: 0,
  last: mean.length,
  tile: { first: 0, count: mean.length, mean, low, high },
});

test("a gap and a missing tile end a line", () => {
  const frame = new ChartFrame({
    window: { begin: 0, end: 100 },
    values: { low: 0, high: 10 },
    width: 164,
    height: 120,
  }); // a pixel per cycle
  const columns = [...columnsOf(frame, [bins(0, [1, Number.NaN, 3]), bins(30, [4]), bins(60, [5])], 0)];
  expect(columns.map(({ x, width, mean, isFirst }) => [x - frame.left, width, mean, isFirst])).toEqual([
    [0, 10, 1, true],
    [20, 10, 3, true],
    [30, 10, 4, false],
    [60, 10, 5, true],
  ]);
});

test("the axis of values starts at zero, unless values are below or it should not", () => {
  expect(valueRange(20, 100, true)).toEqual({ low: 0, high: 106 });
  expect(valueRange(-10, 10, true).low).toBeLessThan(-10);
  expect(valueRange(2000, 2000, false)).toEqual({ low: 1960, high: 2040 });
  expect(valueRange(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true)).toEqual({ low: 0, high: 1 });
});

test("time and values go to pixels and back", () => {
  const frame = new ChartFrame({
    window: { begin: 100, end: 300 },
    values: { low: 0, high: 50 },
    width: 864,
    height: 200,
  });
  expect(frame.time(frame.x(177))).toBeCloseTo(177);
  expect(frame.value(frame.y(31))).toBeCloseTo(31);
});

test("a bin with several values has a band from the smallest to the largest", () => {
  const frame = new ChartFrame({
    window: { begin: 0, end: 20 },
    values: { low: 0, high: 10 },
    width: 264,
    height: 120,
  });
  const painter = new SvgPainter(264, 120);
  paintCurve(painter, frame, { bins: [bins(0, [2, 5], [0, 5], [8, 5])], series: 0, colour: "#112233" });
  const [top, bottom] = [Math.round(frame.y(8)), Math.round(frame.y(0))];
  expect(painter.toString()).toContain(`<path d="M58 ${top}h100v${bottom - top}h-100z" fill="#11223340"/>`);
});

test("bins narrower than a pixel are joined, and no spike is lost", () => {
  const frame = new ChartFrame({
    window: { begin: 0, end: 100 },
    values: { low: 0, high: 10 },
    width: 74,
    height: 120,
  }); // ten pixels
  const mean = Array.from({ length: 100 }, (_, i) => (i === 37 ? 9 : 1));
  const columns = [...columnsOf(frame, [{ ...bins(0, mean), width: 1 }], 0)];
  expect(columns.reduce((sum, { width }) => sum + width, 0)).toBe(10);
  expect(Math.max(...columns.map(({ high }) => high))).toBe(9);
  expect(columns.length).toBeLessThan(6); // equal neighbours are one
});

test("values of an axis are told apart", () => {
  expect(tickValue(2036.2, 0.1, { low: 2036, high: 2037 })).toBe("2,036.2");
  expect(tickValue(1000, 200, { low: 0, high: 1100 })).toBe("1,000");
  expect(tickValue(15_000, 5_000, { low: 0, high: 50_000 })).toBe("15 K");
  expect(tickValue(0, 10, { low: 0, high: 60 })).toBe("0");
});
