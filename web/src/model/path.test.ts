import { describe, expect, it } from "vitest";
import { inOrder } from "./path";

const segment = (track: number, begin: number, end: number) => ({
  track,
  begin,
  end,
  item: 0,
  class: "kernels",
  is_inferred: false,
});

describe("segments of the path", () => {
  it("come in the order of time, those of two tiles once", () => {
    const whole = inOrder([
      [segment(1, 5, 9), segment(0, 0, 5)],
      [segment(1, 5, 9), segment(0, 9, 12)],
    ]);
    expect(whole.map(({ begin }) => begin)).toEqual([0, 5, 9]);
  });
});
