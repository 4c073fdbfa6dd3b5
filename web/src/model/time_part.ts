// The part of the time that tables, charts and sums are about: the selected one, when the user wants only that.
import { computed, effect } from "@preact/signals";
import { askedTime } from "../data/ask";
import { source } from "../data/source";
import { current } from "./document";
import { type Range, select, selection } from "./selection";

/** Why nothing but the whole time can be looked at; empty = parts can. */
export const onlyWholeTime = source.isExport ? "an exported page holds figures of the whole time only" : "";

/** The part that is looked at; null = the whole time. */
export const timePart = computed<Range | null>(() => {
  const { range, onlyRange } = selection.value;
  return range && onlyRange && !onlyWholeTime ? { begin: Math.floor(range.begin), end: Math.ceil(range.end) } : null;
});

effect(() => {
  const part = timePart.value;
  askedTime.value = part && { document: current.value, ...part };
});

/** Look at the selected time only, or at the whole time. */
export function lookAtPart(isOnly: boolean): void {
  select({ onlyRange: isOnly || undefined });
}
