import { expect, test } from "vitest";
import { axisText, decades, gridValues, LogFrame } from "./loglog";

const frame = new LogFrame({ left: -2, right: 3, bottom: 0, top: 5 }, 800, 400);

test("a place and its value belong together", () => {
  const at = frame.at(frame.x(42), frame.y(777));
  expect(10 ** at.x).toBeCloseTo(42);
  expect(10 ** at.y).toBeCloseTo(777);
});

test("a zoom keeps the place under the pointer", () => {
  const [x, y] = [frame.x(10), frame.y(100)];
  const nearer = new LogFrame(frame.zoomed(0.5, x, y), 800, 400);
  expect(nearer.x(10)).toBeCloseTo(x);
  expect(nearer.y(100)).toBeCloseTo(y);
  expect(nearer.window.right - nearer.window.left).toBeCloseTo(2.5);
});

test("a move carries the values along", () => {
  const moved = new LogFrame(frame.moved(30, -12), 800, 400);
  expect(moved.x(10)).toBeCloseTo(frame.x(10) + 30);
  expect(moved.y(10)).toBeCloseTo(frame.y(10) - 12);
});

test("no zoom leaves the range of numbers", () => {
  let window = frame.window;
  for (let i = 0; i < 100; i++) window = new LogFrame(window, 800, 400).zoomed(3, 400, 200);
  expect(window.right - window.left).toBeLessThanOrEqual(30.001);
});

test("windows are whole decades around what has a place", () => {
  expect(decades([0.3, 40, 0, Number.NaN], [0, 1])).toEqual([-1, 2]);
  expect(decades([], [-2, 3])).toEqual([-2, 3]);
});

test("the grid has powers of ten and what is between", () => {
  expect(gridValues(0, 1).map((line) => line.value)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(gridValues(0, 12)).toHaveLength(13);
  expect([0.001, 1, 20, 1000, 2e6, 1e9, 1e-6].map(axisText)).toEqual(["0.001", "1", "20", "1k", "2M", "1G", "1e-6"]);
});
