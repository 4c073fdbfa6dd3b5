// The answer about the memory chart.
import type { Frame } from "../../model/answers";

export type Heat = "good" | "warm" | "hot" | "";

interface Figure {
  value: number | null;
  unit: string;
  /** Several are joined by " + ". */
  metric_id: string;
  peak: number | null;
  peak_share: number | null;
  /** Why there is no value; else empty. */
  reason: string;
  heat: Heat;
}

export interface Block {
  block: string;
  title: string;
  /** Distance from the waves: 0 = the CUs, 4 = memory. */
  stage: number;
}

export interface BlockValue extends Figure {
  block: string;
  label: string;
  about: string;
  is_rate: boolean;
}

export interface Wire extends Figure {
  source: string;
  target: string;
  /** read, write, atomic or request; traffic = bytes of all of them. */
  kind: string;
  /** GB/s. */
  rate: number | null;
  rate_share: number | null;
}

export interface MemoryChartAnswer {
  definition: string;
  dispatch_count: number;
  duration_ns_mean: number | null;
  busiest: string;
  blocks: Frame<Block>;
  values: Frame<BlockValue>;
  wires: Frame<Wire>;
  doubts: string[];
}
