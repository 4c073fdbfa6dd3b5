// Lanes and costs in words.
import { exact, measured, percent } from "../../base/format";
import type { LanesReasonsRow, LanesRow } from "../../data/answers.gen";
import { excessOf } from "../../model/lanes";

/** `0–3 8 12–15`: ranges only where they are shorter. */
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

/** `0–3`, or `0` for one. */
export function span(first: number, count: number): string {
  return count > 1 ? `${first}–${first + count - 1}` : String(first);
}

const each = (total: number | null, row: LanesRow) => measured((total ?? 0) / row.cost_known_count);

/** What one execution costs, on average over those that are known. */
export function costSentence(row: LanesRow, segmentBytes: number | null): string {
  if (!row.cost_known_count) return row.known_count ? "The cost is not known." : "The lane addresses are not known.";
  const excess = excessOf(row) ?? 0;
  if (row.space === "lds") {
    const ideal = each(row.ideal_cycles_total, row);
    return excess
      ? `${each(excess, row)} extra cycles on ${ideal}: bank conflicts, in each execution.`
      : `No bank conflict: ${ideal} cycles in each execution.`;
  }
  const [touched, least] = [each(row.segment_count_total, row), each(row.least_segment_count_total, row)];
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

/** The row that loses most: LDS cycles before segments, because their unit is time. */
export function costliest(rows: LanesRow[]): LanesRow | undefined {
  const before = (a: LanesRow, b: LanesRow) =>
    Number(b.space === "lds" && !!excessOf(b)) - Number(a.space === "lds" && !!excessOf(a)) ||
    (excessOf(b) ?? -1) - (excessOf(a) ?? -1);
  return [...rows].sort(before)[0];
}
