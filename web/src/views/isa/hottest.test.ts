import { describe, expect, it } from "vitest";
import { ordinal, rankedRows } from "./hottest";

describe("the order of hot rows", () => {
  it("has the hottest first, and neither cold rows nor ends of waves", () => {
    const mnemonics = ["s_nop", "s_waitcnt", "v_add_f32", "s_endpgm", "s_nop"];
    expect(rankedRows([0.2, 0.9, 0.2, 1, 0], mnemonics)).toEqual([1, 0, 2]);
  });

  it("is told in words", () => {
    const words = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 1003].map(ordinal);
    const expected = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th", "1,003rd"];
    expect(words).toEqual(expected);
  });
});
