import { describe, expect, it } from "vitest";
import { positionsOf, rowFigures, timesOf, type WaveData } from "./wave_data";

// A wave that begins at 100: row 0, row 1, an instruction without PC, row 1 again (overlapping), row 0.
const data: WaveData = {
  wave: 3,
  count: 5,
  time: Float64Array.of(110, 120, 130, 140, 170),
  stall: Int32Array.of(2, 0, 1, 6, 4),
  duration: Int32Array.of(4, 30, 5, 8, 10),
  category: Uint8Array.of(2, 3, 6, 3, 2),
  row: Int32Array.of(0, 1, -1, 1, 0),
};

describe("figures of one wave by row", () => {
  it("adds up, with gaps from the start of the wave and from the latest end", () => {
    const { hits, latency, stall, idle } = rowFigures(data, 100, 3, { by: "sum" });
    expect([...hits]).toEqual([2, 2, 0]);
    expect([...latency]).toEqual([14, 38, 0]);
    expect([...stall]).toEqual([6, 6, 0]);
    expect([...idle]).toEqual([10 + 20, 6, 0]);
  });

  it("takes the largest execution of each part", () => {
    const { hits, latency, stall, idle } = rowFigures(data, 100, 2, { by: "max" });
    expect([...hits]).toEqual([2, 2]);
    expect([...latency]).toEqual([10, 30]);
    expect([...stall]).toEqual([4, 6]);
    expect([...idle]).toEqual([20, 6]);
  });

  it("takes one execution", () => {
    const second = rowFigures(data, 100, 2, { by: "iteration", iteration: 1 });
    expect([...second.hits, ...second.latency, ...second.stall, ...second.idle]).toEqual([1, 1, 10, 8, 4, 6, 20, 0]);
    expect([...rowFigures(data, 100, 2, { by: "iteration", iteration: 2 }).hits]).toEqual([0, 0]);
  });

  it("knows executions by number", () => {
    expect(timesOf(data, 1)).toEqual([120, 140]);
    expect(positionsOf(data, 7)).toEqual([]);
  });
});
