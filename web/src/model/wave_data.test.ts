import { describe, expect, it } from "vitest";
import { intervalOf, iterationOf, positionsOf, rowFigures, timesOf, type WaveData } from "./wave_data";

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

// Twice through a barrier (row 1), each time with an arrival (a message) and a release.
const barriers: WaveData = {
  wave: 0,
  count: 5,
  time: Float64Array.of(0, 10, 20, 50, 60),
  stall: Int32Array.of(0, 1, 2, 3, 4),
  duration: Int32Array.of(4, 4, 24, 4, 30),
  category: Uint8Array.of(2, 11, 2, 11, 2),
  row: Int32Array.of(0, 1, 1, 1, 1),
};

describe("the two records of a gfx9 barrier", () => {
  it("are one execution", () => {
    expect(positionsOf(barriers, 1)).toEqual([1, 3]);
    expect([0, 1, 2, 3, 4].map((position) => iterationOf(barriers, position))).toEqual([0, 0, 0, 1, 1]);
    expect(intervalOf(barriers, 1)).toEqual({ begin: 10, end: 44 });
  });

  it("count once, and their cycles are added up", () => {
    const sums = rowFigures(barriers, 0, 2, { by: "sum" });
    expect([...sums.hits]).toEqual([1, 2]);
    expect([...sums.latency]).toEqual([4, 62]);
    const second = rowFigures(barriers, 0, 2, { by: "iteration", iteration: 1 });
    expect([second.hits[1], second.latency[1], second.stall[1], second.idle[1]]).toEqual([1, 34, 7, 12]);
  });
});
