import { expect, test } from "vitest";
import { percent } from "../base/format";
import { truncation } from "./answers";

test("what is left out is said", () => {
  expect(truncation(20, 3112)).toBe("showing 20 of 3,112");
  expect(truncation(20, 20)).toBe("");
});

test("shares that round to nothing have no sign", () => {
  expect(percent(-0.0001)).toBe("0.0 %");
  expect(percent(-0.001)).toBe("-0.1 %");
  expect(percent(-0.1)).toBe("-10.0 %");
});
