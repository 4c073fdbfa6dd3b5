// What the lanes of a memory instruction cost, and how far that is known, in words.
import { exact, measured, percent } from "../../base/format";
import type { LanesReasonsRow, LanesRow } from "../../data/answers.gen";
import { excessOf } from "../../model/lanes";

/** Sorted numbers of lanes as `0–3 8 12–15`: a range stands for three lanes or more. */
export function laneRanges(lanes: number[]): string {
  const parts: string[] = [];
  for (let first = 0; first < lanes.length; ) {
    let last = first;
    while (lanes[last + 1] === (lanes[last] as number) + 1) last++;
    if (last - first < 2) parts.push(...lanes.slice(first, last + 1).map(String));
    else parts.push(`${lanes[first]}–${lanes[last]}`);
    first = last + 1;
  }
  return parts.join(" ");
}

/** Numbers from a first one on: `0–3`, or `0` for one. */
export function numberRange(first: number, count: number): string {
  return count > 1 ? `${first}–${first + count - 1}` : String(first);
}

/** A total over the executions whose cost is known, as the mean of one. */
const perExecution = (total: number | null, row: LanesRow) => measured((total ?? 0) / row.cost_known_count);

/** What one execution costs, on average over those that are known. */
export function costSentence(row: LanesRow, segmentBytes: number | null): string {
  if (!row.cost_known_count) return row.known_count ? "The cost is not known." : "The lane addresses are not known.";
  const excess = excessOf(row) ?? 0;
  if (row.space === "lds") {
    const ideal = perExecution(row.ideal_cycles_total, row);
    return excess
      ? `${perExecution(excess, row)} extra cycles on ${ideal}: bank conflicts, in each execution.`
      : `No bank conflict: ${ideal} cycles in each execution.`;
  }
  const [touched, least] = [
    perExecution(row.segment_count_total, row),
    perExecution(row.least_segment_count_total, row),
  ];
  const pieces = `segments of ${exact(segmentBytes)} bytes`;
  if (excess <= 0) return `Coalesced: ${touched} ${pieces} in each execution, no more than needed.`;
  const factor = (row.segment_count_total ?? 0) / Math.max(1, row.least_segment_count_total ?? 0);
  return `${touched} ${pieces} in each execution, ${least} would do: ${measured(factor)} times as many.`;
}

/** `56 of 56 (100.0 %)`. */
export function knownWords(row: LanesRow): string {
  const part = (count: number) =>
    `${exact(count)} of ${exact(row.execution_count)} (${percent(count / row.execution_count)})`;
  return row.cost_known_count === row.known_count
    ? part(row.known_count)
    : `addresses of ${part(row.known_count)}, cost of ${part(row.cost_known_count)}`;
}

export function reasonWords(reason: LanesReasonsRow): string {
  return `${reason.reason} (${exact(reason.execution_count)} executions${reason.is_cost ? ", only the cost" : ""})`;
}

/** The row that loses most: LDS cycles before segments, because their unit is time; rows of unknown cost last. */
export function costliest(rows: LanesRow[]): LanesRow | undefined {
  const losesCycles = (row: LanesRow) => row.space === "lds" && Boolean(excessOf(row));
  const excess = (row: LanesRow) => excessOf(row) ?? -1;
  return [...rows].sort((a, b) => Number(losesCycles(b)) - Number(losesCycles(a)) || excess(b) - excess(a))[0];
}
