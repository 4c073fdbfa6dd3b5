// The answer about what limits the kernels of a counter capture.
import type { DoubtLine } from "../../model/answers";

export interface Evidence {
  quantity: string;
  label: string;
  value: number | null;
  unit: string;
  amount: number | null;
  amount_unit: string;
  peak: number | null;
  metric_id: string;
  /** decides, instead, only if, sign or number. */
  role: string;
  /** 0 = against, 1 = for, 2 = strongly for; null = a number only, or not measured. */
  level: number | null;
  threshold: string;
  why: string;
}

export interface Suspicion {
  name: string;
  kind: string;
  verdict: "at limit" | "likely" | "undecided" | "excluded";
  reason: string;
  confidence: string;
  confidence_reason: string;
  evidence: Evidence[];
  missing_counters: string[];
  missing_metrics: string[];
  remedy: string;
  gain_share_max: number | null;
}

export interface KernelLimit {
  kernel: number;
  kernel_name: string;
  dispatch_count: number;
  duration_ns_mean: number | null;
  duration_share: number | null;
  summary: string;
  limits: string[];
  confidence: string;
  confidence_reason: string;
  suspects: Suspicion[];
  /** A command that plans what would decide what is open; empty = nothing that counters can tell. */
  plan: string;
}

export interface DiagnosisAnswer {
  definition: string;
  kernel_count: number;
  kernels: KernelLimit[];
  doubts: DoubtLine[];
}
