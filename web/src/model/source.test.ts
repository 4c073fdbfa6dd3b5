import { describe, expect, it } from "vitest";
import { partsOf, type SourceCost, shortLine, weightOf } from "./source";

const cost: SourceCost = {
  rows: 1,
  hits: 2,
  latency: 100,
  stall: 60,
  idle: 10,
  exposedStall: 30,
  exposedIssue: 20,
  exposedIdle: 5,
  issued: 0,
  stalled: 0,
  unknown: 0,
};

describe("costs of lines", () => {
  it("have parts that add up to their weight", () => {
    for (const [by, weight] of [
      ["cycles", 110],
      ["stall", 60],
      ["exposed", 55],
    ] as const) {
      expect(weightOf(cost, by)).toBe(weight);
      expect(partsOf(cost, by).reduce((sum, part) => sum + part.value, 0)).toBe(weight);
    }
  });
});

describe("places", () => {
  it("are short", () => {
    expect(shortLine("/a/b/gemm.hip", 18)).toBe("gemm.hip:18");
    expect(shortLine("gemm.hip", 0)).toBe("gemm.hip");
  });
});
