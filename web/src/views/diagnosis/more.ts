// Where more about each kind of finding can be seen.
/** View id and words of the link at the foot of a finding, by its kind. */
export const MORE: Record<string, { id: string; words: string }[]> = {
  roof: [{ id: "utilization", words: "Busy pipes" }],
  memory: [
    { id: "waits", words: "All waits and what they wait for" },
    { id: "memory_latency", words: "Memory latency" },
  ],
  wait: [
    { id: "waits", words: "All waits and what they wait for" },
    { id: "memory_latency", words: "Memory latency" },
  ],
  issue: [
    { id: "utilization", words: "Busy pipes" },
    { id: "stalls", words: "All stall classes" },
  ],
  dependency: [{ id: "stalls", words: "All stall classes" }],
  padding: [{ id: "stalls", words: "All stall classes" }],
  sync: [{ id: "barriers", words: "Barriers and who comes last" }],
  fetch: [{ id: "loops", words: "Loops" }],
  grid: [{ id: "occupancy_limits", words: "What limits the waves per SIMD" }],
  occupancy: [{ id: "occupancy_limits", words: "What limits the waves per SIMD" }],
};
