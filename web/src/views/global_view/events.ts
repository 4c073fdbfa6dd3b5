// Groups of the events in a thread trace that can be shown and hidden together, by the names of their kinds.
import type { Kind } from "../../model/layers";

export interface EventGroup {
  name: string;
  hint: string;
  isOnAtFirst: boolean;
  holds: (kind: string) => boolean;
}

const named = (pattern: RegExp) => (kind: string) => pattern.test(kind);

const TRACING: EventGroup = {
  name: "Tracing",
  hint: "Stalls and losses of the trace itself",
  isOnAtFirst: true,
  holds: named(/TRACE_|PACKET/i),
};
/** In the order of their buttons; a kind belongs to the first group that holds it. */
const KNOWN: EventGroup[] = [
  { name: "Dispatches", hint: "Kernel launches", isOnAtFirst: true, holds: named(/DISPATCH/i) },
  {
    name: "Flushes",
    hint: "Flushes of pipelines and caches",
    isOnAtFirst: true,
    holds: named(/FLUSH|BOTTOM_OF_PIPE/i),
  },
  { name: "Code objects", hint: "Loads and unloads of code objects", isOnAtFirst: true, holds: named(/CODE_OBJECT/i) },
  TRACING,
  { name: "GC rinse", hint: "Rinses of the graphics core", isOnAtFirst: false, holds: named(/RINSE/i) },
];
const OTHERS: EventGroup = { name: "Others", hint: "All other events", isOnAtFirst: true, holds: () => true };

/** The group of a kind of event. */
export function groupOf(kind: string): EventGroup {
  // TRACE_FLUSH is about the trace, though Flushes would hold it.
  if (/^TRACE_/i.test(kind)) return TRACING;
  return KNOWN.find((group) => group.holds(kind)) ?? OTHERS;
}

/** The groups that occur among kinds, in a fixed order. */
export function groupsAmong(kinds: Kind[]): EventGroup[] {
  const groups = new Set(kinds.map(({ name }) => groupOf(name)));
  return [...KNOWN, OTHERS].filter((group) => groups.has(group));
}
