import { describe, expect, it } from "vitest";
import { overlap, type Register, registerOf, registersOf, resultsOf, tokensOf } from "./isa_text";

const kinds = (text: string) => tokensOf(text).map(({ kind, text: part }) => `${kind}:${part}`);

describe("instruction text", () => {
  it("is cut into parts that make the whole again", () => {
    for (const text of [
      "buffer_load_dwordx4 v64, s[16:19], 0 offen sc0 lds",
      "s_waitcnt vmcnt(0) lgkmcnt(15)",
      "v_mfma_f32_32x32x16_bf16 a[0:15], v[2:5], v[6:9], a[0:15]",
      "s_cbranch_scc1 65534 // 00000000: BF85FFFE",
      "; kernel <img onerror=x>",
      "",
      "  v_cmp_gt_i32_e32 vcc, -0x1f, v3",
    ]) {
      expect(
        tokensOf(text)
          .map((token) => token.text)
          .join(""),
      ).toBe(text);
    }
  });

  it("tells registers from numbers and words", () => {
    expect(kinds("v_add_f32_e64 v1, s[2:3], 0x10")).toEqual([
      "mnemonic:v_add_f32_e64",
      "plain: ",
      "register:v1",
      "plain:, ",
      "register:s[2:3]",
      "plain:, ",
      "number:0x10",
    ]);
    expect(kinds("s_waitcnt vmcnt(0)")).toContain("word:vmcnt");
  });
});

describe("registers", () => {
  it("have files and ranges", () => {
    expect(registerOf("s[16:19]")).toEqual({ file: "s", first: 16, last: 19 });
    expect(registerOf("a[7]")).toEqual({ file: "a", first: 7, last: 7 });
    expect(registerOf("vcc_hi")).toEqual({ file: "vcc", first: 1, last: 1 });
    expect(registerOf("vmcnt")).toBeNull();
  });

  it("overlap within a file", () => {
    const of = (text: string) => registerOf(text) as NonNullable<ReturnType<typeof registerOf>>;
    expect(overlap(of("v[2:5]"), of("v5"))).toBe(true);
    expect(overlap(of("v[2:5]"), of("v6"))).toBe(false);
    expect(overlap(of("v5"), of("s5"))).toBe(false);
    expect(overlap(of("exec"), of("exec_hi"))).toBe(true);
  });

  it("have halves", () => {
    expect(registerOf("v7.l")).toEqual({ file: "v", first: 7, last: 7, half: "l" });
    expect(kinds("v_add_f16_e32 v7.h, v8.l, v9.l").filter((token) => token.startsWith("register"))).toEqual([
      "register:v7.h",
      "register:v8.l",
      "register:v9.l",
    ]);
    const [low, high, whole] = registersOf("v7.l v7.h v7") as [Register, Register, Register];
    expect(overlap(low, high)).toBe(false);
    expect(overlap(low, whole)).toBe(true);
  });

  it("come in lists", () => {
    expect(registersOf("")).toEqual([]);
    expect(registersOf("a[0:15] vcc_lo scc").map(({ file, first, last }) => [file, first, last])).toEqual([
      ["a", 0, 15],
      ["vcc", 0, 0],
      ["scc", 0, 0],
    ]);
  });
});

describe("results", () => {
  const results = (text: string, writes: string) => {
    const tokens = tokensOf(text);
    return [...resultsOf(tokens, registersOf(writes))].map((place) => `${place}:${tokens[place]?.text}`);
  };

  it("are the first places of the registers that are written", () => {
    expect(results("v_add_f32_e32 v1, v1, v2", "v1")).toEqual(["2:v1"]);
    expect(results("v_add_co_u32_e32 v1, vcc, v1, v3", "v1 vcc")).toEqual(["2:v1", "4:vcc"]);
    expect(results("v_swap_b32 v1, v2", "v1 v2")).toEqual(["2:v1", "4:v2"]);
    expect(results("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]", "a[0:3]")).toEqual(["2:a[0:3]"]);
    expect(results("v_add_f16_e32 v7.h, v7.l, v7.h", "v7.h")).toEqual(["2:v7.h"]);
  });

  it("are nowhere where nothing is written or nothing is known", () => {
    expect(results("global_store_dwordx4 v0, v[4:7], s[2:3]", "")).toEqual([]);
    expect(results("s_cmp_lt_i32 s4, s5", "")).toEqual([]);
  });

  it("of dual instructions are in both halves", () => {
    const text = "v_dual_mov_b32 v1, v9 :: v_dual_mov_b32 v9, v1";
    expect(results(text, "v1 v9")).toEqual(["2:v1", "8:v9"]);
  });
});
