// The answer of `barriers`.
import type { Frame } from "../../model/answers";

export interface BarrierRow {
  row: number;
  text: string;
  file: string | null;
  line: number | null;
  execution_count: number;
  stall_cycles_total: number;
  meeting_count: number;
  waves_per_meeting: number | null;
  spread_cycles_mean: number | null;
  spread_cycles_max: number | null;
  lost_cycles_total: number;
  late_cycles_total: number;
}

export interface LastWave {
  row: number;
  simd: number;
  slot: number;
  last_count: number;
  last_share: number;
  late_cycles_total: number;
}

export interface Cause {
  row: number;
  cause_row: number;
  text: string;
  file: string | null;
  line: number | null;
  last_cycles_mean: number;
  other_cycles_mean: number;
  excess_cycles_mean: number;
}

export interface BarriersAnswer {
  definition: string;
  workgroup_count: number;
  waves_per_workgroup: number;
  alone_wave_count: number;
  stall_cycles_total: number;
  lost_cycles_total: number;
  wave_cycles_total: number;
  rows: Frame<BarrierRow>;
  last_waves: Frame<LastWave>;
  causes: Frame<Cause>;
}
