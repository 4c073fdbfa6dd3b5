import { describe, expect, it } from "vitest";
import { inOrder } from "./path";

const stretch = (lane: number, begin: number, end: number) => ({
  lane,
  begin,
  end,
  item: 0,
  class: "kernels",
  is_inferred: false,
});

describe("stretches of the path", () => {
  it("come in the order of time, those of two tiles once", () => {
    const whole = inOrder([
      [stretch(1, 5, 9), stretch(0, 0, 5)],
      [stretch(1, 5, 9), stretch(0, 9, 12)],
    ]);
    expect(whole.map(({ begin }) => begin)).toEqual([0, 5, 9]);
  });
});
