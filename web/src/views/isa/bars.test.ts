import { describe, expect, it } from "vitest";
import { columnsOf } from "../../data/made_columns";
import { barLines, classBars, kindColour, latencyBars, memoryBars, sampleBars } from "./bars";
import type { Figures } from "./figures";
import { samplesFrom } from "./samples";

const of = (...values: number[]) => Float64Array.from(values);
const figures: Figures = {
  hits: of(2, 1),
  latency: of(40, 8),
  stall: of(30, 2),
  idle: of(10, 0),
  exposure: {
    exposed: of(26, 8),
    idle: of(4, 0),
    stall: of(15, 2),
    issue: of(7, 6),
    hidden: of(24, 0),
  },
};
const stack = (bars: ReturnType<typeof latencyBars>, row: number) =>
  Object.fromEntries((bars.of(row)[0] ?? []).map(({ name, value }) => [name, value]));

describe("bars", () => {
  it("are hidden, idle, stall and issue, together latency and idle", () => {
    const bars = latencyBars(figures, { withIdle: true, withHidden: true });
    expect(bars.scale).toBe(50);
    expect(stack(bars, 0)).toEqual({ hidden: 24, idle: 4, stall: 15, issue: 7 });
    expect(stack(latencyBars(figures, { withIdle: true, withHidden: false }), 0)).toEqual({
      idle: 4,
      stall: 15,
      issue: 7,
    });
  });

  it("leave idle out when it is not wanted, and have one scale with and without the hidden part", () => {
    const bars = latencyBars(figures, { withIdle: false, withHidden: true });
    expect(bars.scale).toBe(40);
    expect(stack(bars, 0)).toEqual({ hidden: 18, idle: 0, stall: 15, issue: 7 });
    expect(latencyBars(figures, { withIdle: false, withHidden: false }).scale).toBe(40);
  });

  it("are stall and issue where nothing is known about hiding", () => {
    expect(stack(latencyBars({ ...figures, exposure: null }, { withIdle: true, withHidden: true }), 0)).toEqual({
      idle: 10,
      stall: 30,
      issue: 10,
    });
  });

  it("tell their parts in words", () => {
    const lines = barLines(latencyBars(figures, { withIdle: true, withHidden: false }), 0, "0  s_nop");
    expect(lines).toContain("stall: 15 cycles (57.7 %)");
    expect(lines).toContain("together 26");
    expect(lines).toContain("52.0 % of the longest bar");
  });

  it("rank classes of stall by their totals", () => {
    const table = columnsOf({
      row: Int32Array.of(3, 3, 1, -1),
      stall_cycles_total: of(10, 5, 40, 99),
      class: ["wait LDS", "s_nop", "s_nop", "other"],
    });
    const bars = classBars(table, 4);
    expect(bars.legend.map(({ name }) => name)).toEqual(["s_nop", "wait LDS"]);
    expect(bars.scale).toBe(40);
    expect(bars.of(3)[0]?.map(({ name, value }) => [name, value])).toEqual([
      ["wait LDS", 10],
      ["s_nop", 5],
    ]);
    expect(bars.of(0)).toEqual([[]]);
  });

  it("reach to mean plus spread, and say where latencies come from", () => {
    const table = columnsOf({
      row: Int32Array.of(2, 5),
      sample_count: of(7, 1),
      latency_cycles_mean: of(100, 60),
      latency_cycles_sd: of(20, Number.NaN),
      is_bound: [false, true],
      origin: ["waits", "waits"],
    });
    const bars = memoryBars(table);
    expect(bars.scale).toBe(120);
    expect(bars.whisker?.(2)).toBe(20);
    expect(bars.whisker?.(5)).toBe(0);
    expect(bars.remark?.(2)).toContain("7 samples, from waits");
    expect(bars.of(5)[0]?.[0]?.name).toBe("at most (mean)");
    expect(bars.of(9)).toEqual([[]]);
  });

  it("are issued samples and reasons", () => {
    const samples = samplesFrom(
      columnsOf({ row: Int32Array.of(1), issued_count: of(2), stalled_count: of(5), unknown_count: of(0) }),
      columnsOf({ row: Int32Array.of(1, 1), reason: ["waitcnt", "barrier"], count: of(4, 1) }),
      3,
    );
    const bars = sampleBars(samples);
    expect(stack(bars, 1)).toEqual({ issued: 2, waitcnt: 4, barrier: 1 });
    expect(bars.scale).toBe(7);
    const colours = bars.legend.map(({ colour }) => colour);
    expect(new Set(colours).size).toBe(colours.length);
  });

  it("of host-trap samples do not say that they were issued", () => {
    const counts = { row: Int32Array.of(1), issued_count: of(0), stalled_count: of(0), unknown_count: of(6) };
    const none = columnsOf({ row: Int32Array.of(), reason: [], count: of() });
    const bars = sampleBars(samplesFrom(columnsOf(counts), none, 3));
    expect(stack(bars, 1)).toEqual({ "issued or not": 6 });
    expect(bars.scale).toBe(6);
    expect(bars.legend.map(({ name }) => name)).toEqual(["issued or not"]);
  });

  it("have the colours of the categories", () => {
    expect(kindColour("lds_load")).not.toBe(kindColour("vmem_load"));
    expect(kindColour("valu_packed")).toBe(kindColour("valu"));
  });
});
