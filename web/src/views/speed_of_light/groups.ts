// Units of the GPU, from the arithmetic to the memory.
import type { CounterPanelsRow } from "../../data/answers.gen";

export const GROUPS = ["Compute", "Caches and LDS", "Memory"] as const;
export type Group = (typeof GROUPS)[number];

/** Names are those of the metric tables: what goes through the fabric is memory, what names a cache is one. */
export function groupOf(name: string): Group {
  if (/fabric|hbm|dram|memory|\bmall\b/i.test(name)) return "Memory";
  return /\blds\b|l1|l2|gl0|gl2|\bcache\b/i.test(name) ? "Caches and LDS" : "Compute";
}

/** The rows of each group; in the order given, or those nearest to their peak first. */
export function grouped(rows: CounterPanelsRow[], isSorted: boolean): { group: Group; rows: CounterPanelsRow[] }[] {
  return GROUPS.map((group) => {
    const ofGroup = rows.filter((row) => groupOf(row.name) === group);
    return { group, rows: isSorted ? ofGroup.sort((a, b) => shareOf(b) - shareOf(a)) : ofGroup };
  }).filter((part) => part.rows.length);
}

/** Percent of the peak; rows without one come last. */
const shareOf = (row: CounterPanelsRow) => row.peak_share ?? -1;
