import { expect, it } from "vitest";
import type { Bins } from "../model/curves";
import { ChartFrame } from "./curves";
import type { Painter } from "./painter";
import { largestSum, paintStack, paintStrips } from "./stacks";

const mean = [1, 2, 0, 3, 1, Number.NaN];
const part: Bins = {
  begin: 0,
  width: 10,
  first: 0,
  last: 3,
  tile: { first: 0, count: 3, mean, low: mean, high: mean },
};

const colourOf = (series: number) => `#${series}`;

it("adds up what is shown", () => {
  expect(largestSum([part], [0, 1])).toBe(4);
  expect(largestSum([part], [1])).toBe(3);
});

it("puts each series on the one below it", () => {
  const drawn = new Map<string, number[]>();
  const painter = { rects: (of: ArrayLike<number>, fill: string) => drawn.set(fill, Array.from(of)) };
  const frame = new ChartFrame({ window: { begin: 0, end: 30 }, values: { low: 0, high: 4 }, width: 364, height: 427 });
  paintStack(painter as unknown as Painter, frame, { bins: [part], series: [0, 1], colourOf });
  const [lower, upper] = [drawn.get("#0") as number[], drawn.get("#1") as number[]];
  const unit = frame.plotHeight / 4;
  expect(lower.slice(0, 4)).toEqual([58, frame.bottom - unit, 100, unit]);
  // the second stands on the first, and is as high as its value
  expect(upper.slice(0, 4)).toEqual([58, frame.bottom - 4 * unit, 100, 3 * unit]);
  expect(upper.length).toBe(8); // what has no value is not drawn
});

it("gives each series a strip of its own, all with one scale", () => {
  const drawn = new Map<string, number[]>();
  const lines: number[][] = [];
  const painter = {
    rects: (of: ArrayLike<number>, fill: string) => drawn.set(fill, Array.from(of)),
    rect: (...place: number[]) => lines.push(place.slice(0, 4)),
  };
  const frame = new ChartFrame({ window: { begin: 0, end: 30 }, values: { low: 0, high: 4 }, width: 364, height: 427 });
  paintStrips(painter as unknown as Painter, frame, { bins: [part], series: [0, 1], colourOf });
  const [upper, lower] = [drawn.get("#0") as number[], drawn.get("#1") as number[]];
  const tall = frame.plotHeight / 2;
  const foot = (rectangle: number[]) => (rectangle[1] as number) + (rectangle[3] as number);
  expect(foot(upper.slice(0, 4))).toBeCloseTo(frame.top + tall);
  expect(foot(lower.slice(0, 4))).toBeCloseTo(frame.top + 2 * tall);
  expect(upper[3]).toBeCloseTo((tall - 1) / 4); // 1 of 4
  expect(lower[3]).toBeCloseTo(((tall - 1) * 3) / 4); // 3 of 4
  expect(lines.map(([, y]) => y)).toEqual([frame.top + tall - 0.5, frame.top + 2 * tall - 0.5]);
});
