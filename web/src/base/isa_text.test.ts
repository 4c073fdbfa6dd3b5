import { describe, expect, it } from "vitest";
import { operandsOf, overlap, registerOf, tokensOf } from "./isa_text";

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

  it("are written or read", () => {
    expect(operandsOf("v_add_f32_e32 v1, v2, v3")).toEqual({
      written: [{ file: "v", first: 1, last: 1 }],
      read: [
        { file: "v", first: 2, last: 2 },
        { file: "v", first: 3, last: 3 },
      ],
    });
    expect(operandsOf("global_store_dwordx4 v0, v[4:7], s[2:3]").written).toEqual([]);
    expect(operandsOf("buffer_load_dwordx4 v64, s[16:19], 0 offen sc0 lds").written).toEqual([]);
    expect(operandsOf("buffer_load_dwordx4 v[64:67], v1, s[16:19], 0 offen").written).toHaveLength(1);
    expect(operandsOf("global_atomic_add_u32 v1, v2, s[0:1]").written).toEqual([]);
    expect(operandsOf("global_atomic_add_u32 v1, v2, v3, s[0:1] sc0").written).toHaveLength(1);
    expect(operandsOf("v_add_co_u32_e32 v1, vcc, v2, v3").written).toHaveLength(2);
    expect(operandsOf("s_cmp_lt_i32 s4, s5").read).toHaveLength(2);
  });
});
