// Where more about each kind of finding can be seen.
import type { StallFinding } from "../../data/answers.gen";

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

/** Findings whose exposed cycles are not part of another finding: one bar can show them side by side. */
export const isPart = (finding: StallFinding) => finding.kind !== "occupancy" && finding.kind !== "mapping";
