import { expect, test } from "vitest";
import { timeFrom } from "./time_bar";

test("times are numbers, with separators and with units", () => {
  expect([timeFrom("12345"), timeFrom("12,345"), timeFrom(" 1.5ms "), timeFrom("20 us")]).toEqual([
    12345, 12345, 1.5e6, 2e4,
  ]);
  expect([timeFrom(""), timeFrom("soon"), timeFrom("1.2.3"), timeFrom("1e9"), timeFrom("5 hours")]).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});
