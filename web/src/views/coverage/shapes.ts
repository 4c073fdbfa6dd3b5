// The answer of `coverage`.
import type { Frame } from "../../model/answers";

export interface FunctionLine {
  function: string;
  row_count: number;
  executed_row_count: number;
  executed_share: number;
  hit_count: number;
}

export interface PathLine {
  path: number;
  kernel: string | null;
  wave_count: number;
  wave_share: number;
  cycles_share: number;
  distinct_row_count: number;
  instruction_count_min: number;
  instruction_count_median: number;
  instruction_count_max: number;
  duration_cycles_min: number;
  duration_cycles_median: number;
  duration_cycles_max: number;
  first_wave: number;
  early_exit: boolean;
}

export interface EngineLine {
  se: number;
  cu: string | null;
  wave_count: number;
  instruction_count: number;
  all_wave_count: number;
  traced_share: number | null;
  other_cu_count: number;
  target_duration_cycles_mean: number | null;
  other_duration_cycles_mean: number | null;
}

export interface OutlierLine {
  wave: number;
  se: number;
  simd: number;
  slot: number;
  path: number;
  instruction_count: number;
  duration_cycles: number;
  cycles_per_instruction_ratio: number;
}

export interface CoverageAnswer {
  definition: string;
  wave_count: number;
  incomplete_wave_count: number;
  instruction_count: number;
  all_wave_count: number;
  executed_row_count: number;
  entered_row_count: number;
  executed_share: number;
  /** All waves took one path through a small part of the code. */
  is_same_short_path: boolean;
  early_exit_wave_count: number;
  functions: Frame<FunctionLine>;
  paths: Frame<PathLine>;
  engines: Frame<EngineLine>;
  outliers: Frame<OutlierLine>;
}
