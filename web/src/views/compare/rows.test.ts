import { expect, test } from "vitest";
import { nextDifference } from "./rows";

const units = (changes: string[]) => changes.map((change) => ({ change }));

test("differences are found in turn and from the start again", () => {
  const some = units(["same", "text", "same", "gone", "new"]);
  expect(nextDifference(some, -1)).toBe(1);
  expect(nextDifference(some, 1)).toBe(3);
  expect(nextDifference(some, 4)).toBe(1);
  expect(nextDifference(units(["same", "registers", "text"]), -1)).toBe(2);
  expect(nextDifference(units(["same", "registers"]), 0)).toBe(-1);
  expect(nextDifference([], -1)).toBe(-1);
});
