import { describe, expect, it } from "vitest";
import { type Code, framesOf, placesOf } from "./code";

const made = (chains: string[]): Code => ({
  count: chains.length,
  text: chains.map(() => "s_nop 0"),
  mnemonic: chains.map(() => "s_nop"),
  kind: chains.map(() => ""),
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
    const places = placesOf(made(["a.h:3 -> b.cpp:17", "b.cpp:17", "", "b.cpp:17 -> b.cpp:17"]));
    expect(places.get("b.cpp:17")).toEqual({ own: [1, 3], inlined: [0, 1, 3] });
    expect(places.get("a.h:3")).toEqual({ own: [0], inlined: [0] });
    expect(places.size).toBe(2);
  });
});
