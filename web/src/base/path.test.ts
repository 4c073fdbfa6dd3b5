import { expect, test } from "vitest";
import { baseName } from "./path";

test("the last part of a path names it", () => {
  expect(baseName("/a/b/kernel.hip")).toBe("kernel.hip");
  expect(baseName("C:\\work\\kernel.hip")).toBe("kernel.hip");
  expect(baseName("kernel.hip")).toBe("kernel.hip");
  expect(baseName("/a/")).toBe("/a/");
});
