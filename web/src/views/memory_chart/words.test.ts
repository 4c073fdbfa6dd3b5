import { expect, test } from "vitest";
import type { MemoryChartValuesRow, MemoryChartWiresRow } from "../../data/answers.gen";
import { flowHint, flowText, valueHint, valueText } from "./words";

const value = (made: Partial<MemoryChartValuesRow>) =>
  ({
    value: null,
    unit: "",
    reason: "",
    peak: null,
    peak_share: null,
    label: "",
    metric_id: "3.1.1",
    about: "",
    ...made,
  }) as MemoryChartValuesRow;
const wire = (made: Partial<MemoryChartWiresRow>) =>
  ({
    value: null,
    unit: "",
    reason: "",
    peak: null,
    peak_share: null,
    rate: null,
    metric_id: "3.1.2",
    ...made,
  }) as MemoryChartWiresRow;

test("numbers are short in the picture", () => {
  expect(valueText(value({ value: 75.588, unit: "%" }))).toBe("75.6 %");
  expect(valueText(value({ value: 1_048_576 }))).toBe("1.05 M");
  expect(valueText(value({ value: 304 }))).toBe("304");
  expect(valueText(value({}))).toBe("–");
  expect(flowText(wire({ kind: "read", value: 65_775, unit: "Req/kernel" }))).toBe("rd 65.8 K req");
  expect(valueText(value({ value: 650.48, unit: "Cycles" }))).toBe("650 cyc");
  expect(flowText(wire({ kind: "traffic", value: 512.25, unit: "GB/s" }))).toBe("512 GB/s");
  expect(valueText(value({ value: 15_848, unit: "GB/s" }))).toBe("15.8 TB/s");
});

test("and exact in the tooltips, with the reason where there is none", () => {
  const hint = valueHint("L2", value({ label: "hit rate", reason: "TCC_HIT was not measured" }));
  expect(hint).toContain("not known: TCC_HIT was not measured");
  expect(flowHint("L2", "Fabric", wire({ kind: "read", value: 65_775, unit: "Req", rate: 12 }))).toContain(
    "65,775 Req",
  );
});
