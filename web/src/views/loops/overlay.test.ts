import { describe, expect, it } from "vitest";
import type { LoopsRow } from "../../data/answers.gen";
import type { Iteration } from "../../model/loops";
import type { WaveData } from "../../model/wave_data";
import { pathOf, placeOfRow, rowAtPlace } from "./overlay";

const data: WaveData = {
  wave: 0,
  count: 6,
  time: Float64Array.of(0, 10, 20, 30, 40, 50),
  stall: new Int32Array(6),
  duration: Int32Array.of(4, 4, 4, 4, 4, 4),
  category: new Uint8Array(6),
  row: Int32Array.of(0, 5, 6, 4, 99, 5),
};

describe("the way of an iteration", () => {
  it("holds what was executed in it, in segments between jumps back", () => {
    const loop = { first_row: 4, start_row: 4, last_row: 6 } as LoopsRow;
    const iteration: Iteration = { loop: 0, entry: 0, iteration: 0, isLast: false, begin: 10, cycles: 40, stall: 0 };
    expect(pathOf(data, loop, iteration)).toEqual([
      [0, 1, 4, 1, 10, 2, 14, 2],
      [20, 0, 24, 0],
    ]);
  });

  it("is one segment where a rotated loop wraps to its top", () => {
    const loop = { first_row: 4, start_row: 5, last_row: 6 } as LoopsRow;
    const iteration: Iteration = { loop: 0, entry: 0, iteration: 0, isLast: false, begin: 10, cycles: 40, stall: 0 };
    expect(pathOf(data, loop, iteration)).toEqual([[0, 0, 4, 0, 10, 1, 14, 1, 20, 2, 24, 2]]);
    expect([4, 5, 6].map((row) => placeOfRow(loop, row))).toEqual([2, 0, 1]);
    expect([0, 1, 2].map((place) => rowAtPlace(loop, place))).toEqual([5, 6, 4]);
  });
});
