// The answer of `occupancy_limits`.
import type { Frame } from "../../model/answers";

export interface KernelLine {
  kernel: number | null;
  name: string;
  vgprs: number | null;
  agprs: number | null;
  sgprs: number | null;
  lds_bytes: number | null;
  workgroup_size: number | null;
  wave_size: number | null;
  registers_from: string;
  waves_per_simd_limit: number | null;
  bound_by: string | null;
  next_waves_per_simd: number | null;
  waves_per_simd_max: number | null;
  waves_per_simd_mean: number | null;
  limit_share: number | null;
  wave_count: number | null;
  drain_share: number | null;
  all_at_once: boolean | null;
}

export interface LimiterLine {
  kernel: number | null;
  limiter: string;
  waves_per_simd: number;
  used: number;
  allocated: number;
  available: number;
  unit: string;
  next_at_most: number | null;
}

export interface EngineLine {
  se: number;
  simd_count: number;
  wave_count: number;
  waves_per_simd_max: number;
  waves_per_simd_mean: number;
  drain_share: number | null;
}

export interface LimitsAnswer {
  definition: string;
  target: string;
  target_origin: string;
  target_is_certain: boolean;
  lds_shared_by: string;
  kernels: Frame<KernelLine>;
  limiters: Frame<LimiterLine>;
  engines: Frame<EngineLine>;
  notes: string[];
}
