import { expect, test } from "vitest";
import { nearestValue, PlotFrame } from "./plot";

const value = (dispatch: number, amount: number) => ({
  dispatch,
  id: dispatch,
  kernel: 0,
  value: amount,
  isOutlier: false,
});
const frame = new PlotFrame([value(0, 10), value(1, 40), value(2, 20)], { width: 400, height: 200 });

test("dispatches stand from left to right, larger values higher", () => {
  expect(frame.x(0)).toBeLessThan(frame.x(1));
  expect(frame.y(40)).toBeLessThan(frame.y(10));
});

test("a pointer near a mark means it, one far from all means none", () => {
  const [x, y] = [frame.x(1), frame.y(40)];
  expect(nearestValue(frame, x + 3, y - 3)?.point.dispatch).toBe(1);
  expect(nearestValue(frame, x + 13, y)).toBeNull();
});
