import { describe, expect, it } from "vitest";
import type { Costs } from "../../model/code";
import type { WaveData } from "../../model/wave_data";
import { figuresFor, heatOf } from "./figures";

const of = (...values: number[]) => Float64Array.from(values);
const costs: Costs = {
  hits: of(4, 0, 3),
  latency: of(42, 0, 10),
  stall: of(22, 0, 5),
  idle: of(2, 0, 1),
  hidden: of(10, 0, 0),
  hiddenStall: of(8, 0, 0),
  hiddenIssue: of(2, 0, 0),
  hiddenIdle: of(0, 0, 0),
  exposed: of(34, 0, 11),
  exposedStall: of(14, 0, 5),
  exposedIssue: of(18, 0, 5),
  exposedIdle: of(2, 0, 1),
};
const wave: WaveData = {
  wave: 0,
  count: 3,
  time: of(0, 10, 20),
  stall: Int32Array.of(1, 2, 4),
  duration: Int32Array.of(5, 5, 6),
  category: Uint8Array.of(6, 6, 6),
  row: Int32Array.of(0, 2, 0),
};
const given = { costs, waveCosts: null, wave, waveBegin: 0, iteration: 1, rowCount: 3 };
const latency = (mode: Parameters<typeof figuresFor>[0]) => [...(figuresFor(mode, given)?.latency ?? [])];

describe("figures of the listing", () => {
  it("are sums, or means rounded to the nearest cycle", () => {
    expect(latency("sum_all")).toEqual([42, 0, 10]);
    expect(latency("mean_all")).toEqual([11, 0, 3]); // 10.5 and 3.33
    expect([...(figuresFor("mean_all", given)?.hits ?? [])]).toEqual([4, 0, 3]);
    expect([...(figuresFor("mean_all", given)?.exposure?.exposed ?? [])]).toEqual([9, 0, 4]);
  });

  it("are those of one wave", () => {
    expect(latency("sum_wave")).toEqual([11, 0, 5]);
    expect(latency("mean_wave")).toEqual([6, 0, 5]);
    expect(latency("max_wave")).toEqual([6, 0, 5]);
    expect(latency("iteration")).toEqual([6, 0, 0]);
    expect(figuresFor("max_wave", given)?.exposure).toBeNull();
  });

  it("are not there before what they are made of", () => {
    expect(figuresFor("sum_all", { ...given, costs: null })).toBeNull();
    expect(figuresFor("iteration", { ...given, wave: null })).toBeNull();
  });

  it("give heat from 0 to 1", () => {
    expect([...heatOf([4, 0, 16])]).toEqual([0.5, 0, 1]);
    expect([...heatOf([0, 0])]).toEqual([0, 0]);
  });
});
