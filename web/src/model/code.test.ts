import { describe, expect, it } from "vitest";
import { type Code, type Costs, costliestOf, framesOf, rowsByLine } from "./code";

const made = (chains: string[]): Code => ({
  count: chains.length,
  text: chains.map(() => "s_nop 0"),
  mnemonic: chains.map(() => "s_nop"),
  kind: chains.map(() => ""),
  writes: chains.map(() => ""),
  implicitWrites: chains.map(() => ""),
  implicitReads: chains.map(() => ""),
  counters: chains.map(() => ""),
  functionName: chains.map(() => "f"),
  file: chains.map((chain) => framesOf(chain)[0]?.file ?? ""),
  line: Float64Array.from(chains, (chain) => framesOf(chain)[0]?.line ?? Number.NaN),
  chain: chains,
  codeObject: chains.map(() => "1"),
  address: chains.map((_, i) => `0x${(i * 4).toString(16)}`),
});

describe("source lines of rows", () => {
  it("reads inline chains innermost first, with colons in paths", () => {
    expect(framesOf("C:/a.h:3 -> b.cpp:17")).toEqual([
      { file: "C:/a.h", line: 3 },
      { file: "b.cpp", line: 17 },
    ]);
    expect(framesOf("")).toEqual([]);
  });

  it("tells rows of a line from rows inlined into it", () => {
    const places = rowsByLine(made(["a.h:3 -> b.cpp:17", "b.cpp:17", "", "b.cpp:17 -> b.cpp:17"]));
    expect(places.get("b.cpp:17")).toEqual({ own: [1, 3], inlined: [0, 1, 3] });
    expect(places.get("a.h:3")).toEqual({ own: [0], inlined: [0] });
    expect(places.size).toBe(2);
  });
});

describe("the row of a line", () => {
  const rows = (...values: number[]) => Float64Array.from(values);
  const costs = {
    latency: rows(9548, 300, 400, 400),
    idle: rows(0, 0, 0, 0),
    exposedStall: rows(0, 250, 100, 0),
  } as unknown as Costs;

  it("is the one that waves waited at most, not the end of the wave", () => {
    const names = ["s_endpgm", "s_waitcnt", "v_add_f32", "s_nop"];
    expect(costliestOf([0, 1, 2, 3], costs, names)).toBe(1);
    expect(costliestOf([0, 3], costs, names)).toBe(3);
    expect(costliestOf([0], costs, names)).toBe(0);
    expect(costliestOf([], costs, names)).toBeUndefined();
  });
});
