import { describe, expect, it } from "vitest";
import { columnsOf } from "../../data/made_columns";
import type { WaveData } from "../../model/wave_data";
import { arrowsOfWave, branchesOfWave } from "./arrows";

// load, load, wait, branch back, load, load, wait
const wave: WaveData = {
  wave: 0,
  count: 7,
  time: Float64Array.of(0, 10, 20, 120, 130, 140, 150),
  stall: Int32Array.of(2, 0, 96, 0, 0, 4, 36),
  duration: Int32Array.of(6, 4, 100, 4, 4, 8, 40),
  category: Uint8Array.of(3, 3, 9, 7, 3, 3, 9),
  row: Int32Array.of(0, 1, 2, 3, 0, 1, 2),
};
const waits = columnsOf({
  instruction: Int32Array.of(2, 2, 6, 6),
  row: Int32Array.of(2, 2, 2, 2),
  producer: Int32Array.of(0, 1, 4, 5),
  producer_row: Int32Array.of(0, 1, 0, 1),
  counter: ["vmcnt", "vmcnt", "vmcnt", "vmcnt"],
});

describe("arrows of one wave", () => {
  it("count how often, how far ahead and how long", () => {
    const [first, second] = arrowsOfWave(waits, wave);
    expect(first).toMatchObject({ from: 0, to: 2, counter: "vmcnt", count: 2, stall: 132 });
    expect(first?.distanceCycles).toBe((20 - 2 + (150 - 130)) / 2);
    expect(first?.distanceInstructions).toBe(2);
    expect(second?.latency).toBe((120 - 10 + (190 - 144)) / 2);
  });

  it("follow the jumps that it took", () => {
    const jump = { counter: "", stall: 0, distanceCycles: 0, distanceInstructions: 0, latency: 0, count: 9 };
    const all = [
      { ...jump, from: 3, to: 0 },
      { ...jump, from: 3, to: 7 },
    ];
    expect(branchesOfWave(all, wave)).toMatchObject([{ from: 3, to: 0, count: 1 }]);
  });
});
