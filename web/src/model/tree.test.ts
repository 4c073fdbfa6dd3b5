import { expect, test } from "vitest";
import { childrenOf, visibleNodes } from "./tree";

// 0 has 1 and 3, 1 has 2; 4 is a root of its own
const parents = [-1, 0, 1, 0, -1];
const children = childrenOf(parents);

test("children in their order", () => {
  expect(children).toEqual([[1, 3], [2], [], [], []]);
});

test("only nodes under open ones are shown", () => {
  expect(visibleNodes(parents, children, new Set(), null)).toEqual([0, 4]);
  expect(visibleNodes(parents, children, new Set([0]), null)).toEqual([0, 1, 3, 4]);
  expect(visibleNodes(parents, children, new Set([1]), null)).toEqual([0, 4]);
});

test("what is looked for is shown with everything above it, whether open or not", () => {
  expect(visibleNodes(parents, children, new Set(), (n) => n === 2)).toEqual([0, 1, 2]);
  expect(visibleNodes(parents, children, new Set(), () => false)).toEqual([]);
});
