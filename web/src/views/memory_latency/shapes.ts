// The answer of `memory_latency`.
import type { Frame } from "../../model/answers";

export interface LatencyRow {
  row: number;
  kind: string;
  sample_count: number;
  tight_count: number;
  latency_cycles_mean: number;
  latency_cycles_sd: number | null;
  latency_cycles_min: number;
  latency_cycles_p50: number;
  latency_cycles_p95: number;
  latency_cycles_max: number;
  is_bound: boolean;
  bound_cycles_mean: number;
  distribution: number[] | null;
  text: string;
  file: string | null;
  line: number | null;
}

export interface CounterRow {
  row: number;
  counter: string;
  sample_count: number;
  latency_cycles_mean: number;
  latency_cycles_sd: number | null;
  error_cycles: number | null;
  stall_cycles_mean: number | null;
  issue_cycles_mean: number | null;
  text: string;
  file: string | null;
  line: number | null;
}

export interface ExposurePart {
  part: string;
  cycles_total: number;
  hidden_cycles_total: number;
  exposed_cycles_total: number;
  exposed_share: number | null;
}

export interface LatencyAnswer {
  definition: string;
  by_row: Frame<LatencyRow>;
  from_counters: Frame<CounterRow>;
  exposure: Frame<ExposurePart>;
  bin_cycles: number;
  counter_interval_cycles: number;
}

/** The colour of its pipe: LDS, scalar or vector memory. */
export function meaningOf(row: LatencyRow): string {
  if (row.kind.startsWith("scalar")) return "SMEM";
  return row.kind.includes("LDS") ? "LDS" : "VMEM";
}
