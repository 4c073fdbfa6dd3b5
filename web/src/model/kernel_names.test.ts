import { describe, expect, it } from "vitest";
import { differingTails } from "./kernel_names";

describe("differingTails", () => {
  const tiles = ["Cijk_Alik_Bljk_F8HS…_MT16x16x64", "Cijk_Alik_Bljk_F8HS…_MT64x16x64", "copy_kernel"];
  it("holds what tells names with one prefix apart", () => {
    const tails = differingTails(tiles);
    const ends = tiles.slice(0, 2).map((name) => name.slice(-(tails.get(name) ?? 0)));
    expect(ends).toEqual(["MT16x16x64", "MT64x16x64"]);
    expect(tails.get("copy_kernel")).toBeUndefined();
  });
  it("holds the first difference of all with one prefix, not only of the nearest", () => {
    const names = ["miopenConv_gfx9…_f2x3_stride1", "miopenConv_gfx9…_f2x3_stride2", "miopenConv_gfx9…_f3x2_stride1"];
    const tails = differingTails(names);
    expect(names.map((name) => name.slice(-(tails.get(name) ?? 0)))).toEqual([
      "f2x3_stride1",
      "f2x3_stride2",
      "f3x2_stride1",
    ]);
  });
  it("is bounded, and takes names that are the prefix of another one", () => {
    const long = `gemm_kernel_${"x".repeat(60)}`;
    const tails = differingTails([`${long}a`, `${long}b`, "gemm_kernel_", "gemm_kernel_"]);
    expect(tails.get(`${long}a`)).toBe(26);
    expect(tails.get("gemm_kernel_")).toBeGreaterThanOrEqual(4);
  });
});
