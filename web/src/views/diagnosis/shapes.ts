// The answer of `diagnose`, and where more about each kind of finding can be seen.
import type { DoubtLine } from "../../model/answers";

export interface EvidenceLine {
  row: number;
  address: string;
  text: string;
  file: string | null;
  line: number | null;
  execution_count: number;
  stall_cycles_total: number;
  exposed_cycles_total: number;
  producers: string[];
}

export interface RemedyLine {
  name: string;
  text: string;
  rows: number[];
  exposed_cycles_total: number;
}

export interface FindingCard {
  name: string;
  kind: string;
  title: string;
  cause: string;
  remedies: RemedyLine[];
  evidence: EvidenceLine[];
  row_count: number;
  stall_cycles_total: number;
  stall_share: number;
  exposed_cycles_total: number;
  exposed_share: number;
  gain_share_max: number;
  confidence: string;
  confidence_reason: string;
}

export interface DiagnosisAnswer {
  definition: string;
  trust: string;
  doubts: DoubtLine[];
  findings: FindingCard[];
  stall_cycles_total: number;
  exposed_cycles_total: number;
  wave_cycles_total: number;
}

/** View id and words of the link at the foot of a finding, by its kind. */
export const MORE: Record<string, { id: string; words: string }[]> = {
  wait: [
    { id: "waits", words: "All waits and what they wait for" },
    { id: "memory_latency", words: "Memory latency" },
  ],
  issue: [
    { id: "utilization", words: "Busy pipes" },
    { id: "stalls", words: "All stall classes" },
  ],
  padding: [{ id: "stalls", words: "All stall classes" }],
  sync: [{ id: "barriers", words: "Barriers and who comes last" }],
  fetch: [{ id: "loops", words: "Loops" }],
  occupancy: [{ id: "occupancy_limits", words: "What limits the waves per SIMD" }],
  mapping: [{ id: "coverage", words: "Can I trust this trace?" }],
};

/** Findings whose exposed cycles are no part of another finding's: they may stand side by side in one bar. */
export const isPart = (finding: FindingCard) => finding.kind !== "occupancy" && finding.kind !== "mapping";
