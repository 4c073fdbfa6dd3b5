import { expect, test } from "vitest";
import type { Bins } from "../model/curves";
import { ChartFrame, paintCurve, runsOf, valueRange } from "./curves";
import { SvgPainter } from "./painter";

const bins = (begin: number, mean: number[], low = mean, high = mean): Bins => ({
  begin,
  width: 10,
  first: 0,
  last: mean.length,
  tile: { first: 0, count: mean.length, mean, low, high },
});

test("a gap and a missing tile end a line", () => {
  const runs = runsOf([bins(0, [1, Number.NaN, 3]), bins(30, [4]), bins(60, [5])], 0);
  expect(runs.map((run) => run.map(({ begin, mean }) => [begin, mean]))).toEqual([
    [[0, 1]],
    [
      [20, 3],
      [30, 4],
    ],
    [[60, 5]],
  ]);
});

test("the axis of values begins at zero, unless values are below or it should not", () => {
  expect(valueRange(20, 100, true)).toEqual({ low: 0, high: 106 });
  expect(valueRange(-10, 10, true).low).toBeLessThan(-10);
  expect(valueRange(2000, 2000, false)).toEqual({ low: 1800, high: 2200 });
  expect(valueRange(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true)).toEqual({ low: 0, high: 1 });
});

test("time and values go to pixels and back", () => {
  const frame = new ChartFrame({ begin: 100, end: 300 }, { low: 0, high: 50 }, 864, 200, null);
  expect(frame.time(frame.x(177))).toBeCloseTo(177);
  expect(frame.value(frame.y(31))).toBeCloseTo(31);
});

test("a bin with several values has a band from the smallest to the largest", () => {
  const frame = new ChartFrame({ begin: 0, end: 20 }, { low: 0, high: 10 }, 264, 120, null);
  const painter = new SvgPainter(264, 120);
  paintCurve(painter, frame, [bins(0, [2, 5], [0, 5], [8, 5])], 0, "#112233");
  const [x0, x1, x2] = [0, 10, 20].map((time) => frame.x(time));
  const upper = `${x0} ${frame.y(8)} ${x1} ${frame.y(8)} ${x1} ${frame.y(5)} ${x2} ${frame.y(5)}`;
  const lower = `${x2} ${frame.y(5)} ${x1} ${frame.y(5)} ${x1} ${frame.y(0)} ${x0} ${frame.y(0)}`;
  expect(painter.toString()).toContain(`<polygon points="${upper} ${lower}" fill="#11223340"/>`);
});
