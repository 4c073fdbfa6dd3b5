// The shapes of answers that several views share. A table of an answer tells how many rows it has, and carries the first.
import { exact } from "../base/format";

export interface Frame<Row> {
  row_count: number;
  rows: Row[];
}

/** "" when all rows are here, else "showing 2,000 of 3,112". */
export function truncation(shown: number, total: number): string {
  return shown < total ? `showing ${exact(shown)} of ${exact(total)}` : "";
}

export interface DoubtLine {
  name: string;
  severity: "fatal" | "care" | "note";
  sentence: string;
  advice: string;
  numbers: Record<string, unknown>;
}

/** What the verdict of the doubts means for the reader. */
export const TRUST: Record<string, { word: string; means: string; tone: "good" | "care" | "bad" }> = {
  good: { word: "trust it", means: "nothing speaks against this trace", tone: "good" },
  "with care": { word: "with care", means: "something may mislead: read the doubts before concluding", tone: "care" },
  "do not": { word: "do not trust it", means: "do not draw conclusions from this trace", tone: "bad" },
};

export interface WaitRow {
  row: number;
  class: string;
  execution_count: number;
  stalled_count: number;
  stall_cycles_total: number;
  stall_share: number;
  stall_cycles_mean: number;
  stall_cycles_max: number;
  exposed_stall_cycles_total: number | null;
  producer_count: number;
  address: string;
  text: string;
  file: string | null;
  line: number | null;
}

export interface ProducerRow {
  row: number;
  producer_row: number;
  counter: string;
  count: number;
  candidate_count: number;
  execution_share: number;
  last_count: number;
  last_stall_cycles_mean: number | null;
  last_stall_cycles_max: number | null;
  distance_cycles_mean: number | null;
  distance_instructions_mean: number | null;
  latency_cycles_mean: number | null;
  done_count: number;
  slack_cycles_mean: number | null;
  producer_kind: string;
  producer_text: string;
  producer_file: string | null;
  producer_line: number | null;
}

export interface WaitsAnswer {
  definition: string;
  stall_cycles_total: number;
  execution_count: number;
  stalled_count: number;
  waits: Frame<WaitRow>;
  producers: Frame<ProducerRow>;
}
