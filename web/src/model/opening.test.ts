import { expect, test } from "vitest";
import { pieceEnds } from "./opening";

test("pieces are cut by length, and by the number of their files", () => {
  expect(pieceEnds([25], 10)).toEqual([10, 20, 25]);
  expect(pieceEnds([4, 4, 4, 4], 10)).toEqual([10, 16]);
  expect(pieceEnds([1, 1, 1, 1, 1], 10, 2)).toEqual([2, 4, 5]);
  expect(pieceEnds([0, 0, 0], 10, 2)).toEqual([]);
  expect(pieceEnds([10, 10], 10)).toEqual([10, 20]);
});
