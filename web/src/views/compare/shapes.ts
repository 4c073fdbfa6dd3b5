// The answers of `compare` and `compare_units`.
import type { Columns } from "../../data/columns";
import type { Frame } from "../../model/answers";

export interface TraceTotals {
  trace: number;
  label: string;
  path: string;
  wave_count: number;
  early_exit_wave_count: number;
  instructions_per_wave: number;
  latency_cycles_per_wave: number;
  stall_cycles_per_wave: number;
  idle_cycles_per_wave: number;
  duration_cycles_mean: number;
  duration_cycles_median: number;
  duration_cycles_max: number;
  duration_delta_share: number | null;
  duration_noise_share: number | null;
  speed_delta_share: number | null;
  speed_noise_share: number | null;
  waves_per_simd_mean: number | null;
}

export interface ClassChange {
  class: string;
  base_stall_cycles_per_wave: number;
  stall_cycles_per_wave: number;
  delta_cycles_per_wave: number;
}

export interface CompareAnswer {
  definition: string;
  verdict: string;
  beyond_noise_count: number;
  by: string;
  noise_from: string;
  same_code: boolean;
  matched_share: number;
  different_kernels: boolean;
  traces: Frame<TraceTotals>;
  stall_classes: Frame<ClassChange>;
}

export interface Unit {
  unit: number;
  label: string;
  baseLabel: string;
  change: string;
  /** First code row in this trace; NaN = gone. */
  row: number;
  /** First code row in the base; NaN = new. */
  baseRow: number;
  baseHits: number;
  hits: number;
  baseCost: number;
  cost: number;
  baseStall: number;
  stall: number;
  delta: number;
  share: number;
  work: number;
  speed: number;
  noise: number;
  isBeyond: boolean;
}

export function unitsOf(table: Columns): Unit[] {
  const of = (name: string) => table.numbers(name);
  const [unit, row, baseRow] = [of("unit"), of("row"), of("base_row")];
  const [label, baseLabel, change] = [table.texts("label"), table.texts("base_label"), table.texts("change")];
  const [baseHits, hits] = [of("base_hit_count_per_wave"), of("hit_count_per_wave")];
  const [baseCost, cost] = [of("base_cost_cycles_per_wave"), of("cost_cycles_per_wave")];
  const [baseStall, stall] = [of("base_stall_cycles_per_wave"), of("stall_cycles_per_wave")];
  const [delta, share] = [of("delta_cycles_per_wave"), of("delta_share")];
  const [work, speed, noise] = [of("work_cycles_per_wave"), of("speed_cycles_per_wave"), of("noise_cycles_per_wave")];
  const beyond = table.flags("beyond_noise");
  const at = (values: ArrayLike<number>, i: number) => values[i] as number;
  return Array.from({ length: table.length }, (_, i) => ({
    unit: at(unit, i),
    label: label[i] ?? "",
    baseLabel: baseLabel[i] ?? "",
    change: change[i] ?? "",
    row: at(row, i),
    baseRow: at(baseRow, i),
    baseHits: at(baseHits, i),
    hits: at(hits, i),
    baseCost: at(baseCost, i),
    cost: at(cost, i),
    baseStall: at(baseStall, i),
    stall: at(stall, i),
    delta: at(delta, i),
    share: at(share, i),
    work: at(work, i),
    speed: at(speed, i),
    noise: at(noise, i),
    isBeyond: beyond[i] ?? false,
  }));
}

/** The next unit (by position, cyclic) behind `from` that reads differently, is new or gone; -1 = there is none. */
export function nextDifference(units: Unit[], from: number): number {
  for (let step = 1; step <= units.length; step++) {
    const position = (from + step) % units.length;
    if (units[position]?.change !== "same") return position;
  }
  return -1;
}
