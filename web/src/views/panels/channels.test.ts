import { expect, test } from "vitest";
import { type Strip, summarize } from "./channels";

const strip = (values: number[]): Strip => ({
  metric: "18.2.0",
  name: "Hit Rate",
  series: "",
  unit: "%",
  values,
  channels: values.map((_, i) => i),
  mean: Number.NaN,
  low: null,
  high: null,
  reason: "",
});

test("channels that were not measured count for nothing", () => {
  const made = strip([10, Number.NaN, 30]);
  summarize(made);
  expect(made.mean).toBe(20);
  expect(made.low).toEqual({ value: 10, channel: 0 });
  expect(made.high).toEqual({ value: 30, channel: 2 });
});

test("without any measured channel there is no mean", () => {
  const made = strip([Number.NaN]);
  summarize(made);
  expect(made.mean).toBeNaN();
  expect(made.low).toBeNull();
});
