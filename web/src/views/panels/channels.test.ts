import { expect, test } from "vitest";
import type { Columns } from "../../data/columns";
import { strips, summaryOf } from "./channels";

test("channels that were not measured count for nothing", () => {
  expect(summaryOf([10, Number.NaN, 30], [0, 1, 2])).toEqual({
    mean: 20,
    low: { value: 10, channel: 0 },
    high: { value: 30, channel: 2 },
  });
});

test("without any measured channel there is no mean", () => {
  const { mean, low } = summaryOf([Number.NaN], [0]);
  expect(mean).toBeNaN();
  expect(low).toBeNull();
});

test("a strip has the channels of one metric and series of the table", () => {
  const texts: Record<string, string[]> = {
    table_id: ["18.1", "18.2", "18.1", "18.1"],
    metric_id: ["18.1.0", "18.2.0", "18.1.0", "18.1.1"],
    name: ["Hit rate", "Hit rate", "Hit rate", "Reads"],
    series: ["", "", "", "64 B"],
    unit: ["%", "%", "%", "Req"],
    reason: ["", "", "not measured", ""],
  };
  const numbers: Record<string, number[]> = { channel: [0, 0, 1, 0], average: [50, 9, Number.NaN, 7] };
  const columns = {
    length: 4,
    texts: (name: string) => texts[name],
    numbers: (name: string) => Float64Array.from(numbers[name] ?? []),
  } as unknown as Columns;
  const [rates, reads] = strips(columns, "18.1");
  expect(rates).toMatchObject({ metric: "18.1.0", values: [50, Number.NaN], channels: [0, 1], reason: "not measured" });
  expect(reads).toMatchObject({ metric: "18.1.1", series: "64 B", values: [7], mean: 7 });
});
