import { expect, test } from "vitest";
import { inside, paintLoading, uncovered } from "./loading";
import type { Painter } from "./painter";

const window = { begin: 100, end: 200 };

test("what no piece covers is missing, whatever their order", () => {
  const piece = (begin: number, end: number) => ({ begin, end });
  expect(uncovered([], window)).toEqual([window]);
  expect(uncovered([piece(0, 300)], window)).toEqual([]);
  expect(uncovered([piece(150, 160), piece(90, 120), piece(110, 130)], window)).toEqual([
    piece(130, 150),
    piece(160, 200),
  ]);
  expect(uncovered([piece(210, 300)], window)).toEqual([window]);
});

test("where a layer has no time, nothing is missing", () => {
  expect(uncovered([], inside(window, { begin: 0, end: 50 }))).toEqual([]);
});

test("gaps are dashed, and those of a rounding are not", () => {
  const rects: number[][] = [];
  const painter = { rects: (list: number[]) => rects.push(list) } as unknown as Painter;
  paintLoading(
    painter,
    [
      { begin: 0, end: 30 },
      { begin: 50, end: 52 },
    ],
    (time) => time,
    10,
  );
  expect(rects).toEqual([[0, 9, 6, 2, 12, 9, 6, 2, 24, 9, 6, 2]]);
});
