import { expect, test } from "vitest";
import { arranged, moved, trackOf } from "./column_sizes";

const names = (order: string[], hidden: string[] = []) =>
  arranged(["a", "b", "c", "d"], { order, hidden }, (name) => name).join("");

test("columns come in the order of the user, new ones beside their neighbour, hidden ones not at all", () => {
  expect(names([])).toBe("abcd");
  expect(names(["d", "a", "b", "c"])).toBe("dabc");
  expect(names(["c", "a"])).toBe("cdab");
  expect(names(["x", "b"])).toBe("abcd");
  expect(names([], ["b", "d"])).toBe("ac");
  expect(names([], ["a", "b", "c", "d"])).toBe("abcd");
});

test("a column is moved to where another stands", () => {
  expect(moved(["a", "b", "c"], "a", "c")).toEqual(["b", "c", "a"]);
  expect(moved(["a", "b", "c"], "c", "a")).toEqual(["c", "a", "b"]);
  expect(moved(["a", "b"], "a", "x")).toEqual(["a", "b"]);
});

test("tracks have the width of the user, and never one that depends on a row", () => {
  expect(trackOf("a", "1fr", { widths: {} })).toBe("minmax(4em, 1fr)");
  expect(trackOf("a", "6em", { widths: {} })).toBe("6em");
  expect(trackOf("a", "6em", { widths: { a: 90 } })).toBe("90px");
});
