// The answer about the roofline.
import type { Frame } from "../../model/answers";

export interface Ceiling {
  /** HBM, L2, …, or pipe and precision. */
  name: string;
  kind: "bandwidth" | "compute";
  precision: string | null;
  pipe: string | null;
  unit: string;
  theoretical: number | null;
  empirical: number | null;
  empirical_low: number | null;
  empirical_high: number | null;
  used: number | null;
  used_from: string;
  reason: string;
}

export interface RoofKernel {
  kernel: number;
  kernel_name: string;
  dispatch_count: number;
  duration_share: number | null;
  gflops_per_second: number | null;
  giops_per_second: number | null;
  not_counted: string;
  bound: string | null;
  share: number | null;
  verdict: string;
}

export type Work = "flop" | "iop";

export interface RoofPoint {
  kernel: number;
  kernel_name: string;
  level: string;
  work: Work;
  /** Operations per byte. */
  intensity: number | null;
  gops_per_second: number | null;
  gb_per_second: number | null;
  roof: string | null;
  roof_gops_per_second: number | null;
  /** Of that roof. */
  share: number | null;
  reason: string;
}

export interface RoofOperations {
  kernel: number;
  kind: string;
  work: Work;
  operations: number | null;
}

export interface RooflineAnswer {
  definition: string;
  ceilings: Frame<Ceiling>;
  kernels: Frame<RoofKernel>;
  points: Frame<RoofPoint>;
  operations: Frame<RoofOperations>;
  doubts: string[];
}

/** Kernels in an answer about all of them: MOST_KERNELS of page/counters/roofline.py. */
export const MOST_KERNELS = 300;

export const CEILINGS = [
  {
    choice: "best",
    title: "measured roofs, else theoretical",
    hint: "Of a benchmark where one was run, else rates and clocks",
  },
  { choice: "empirical", title: "measured roofs", hint: "What a benchmark reached on the same machine" },
  { choice: "theoretical", title: "theoretical roofs", hint: "Rates of the hardware times the highest clock" },
];
