// Groups of events that can be shown and hidden together.
import type { Kind } from "../../model/layers";

export interface EventGroup {
  name: string;
  hint: string;
  isOnAtFirst: boolean;
  holds: (kind: string) => boolean;
}

const is = (pattern: RegExp) => (kind: string) => pattern.test(kind);

const KNOWN: EventGroup[] = [
  { name: "Dispatches", hint: "Kernel launches", isOnAtFirst: true, holds: is(/DISPATCH/i) },
  { name: "Flushes", hint: "Flushes of pipelines and caches", isOnAtFirst: true, holds: is(/FLUSH|BOTTOM_OF_PIPE/i) },
  { name: "Code objects", hint: "Loads and unloads of code objects", isOnAtFirst: true, holds: is(/CODE_OBJECT/i) },
  { name: "Tracing", hint: "Stalls and losses of the trace itself", isOnAtFirst: true, holds: is(/TRACE_|PACKET/i) },
  { name: "GC rinse", hint: "Rinses of the graphics core", isOnAtFirst: false, holds: is(/RINSE/i) },
];
const OTHERS: EventGroup = { name: "Others", hint: "All other events", isOnAtFirst: true, holds: () => true };

/** The group of a kind of event. */
export function groupOf(kind: string): EventGroup {
  // TRACE_FLUSH is about the trace, whatever its name says
  if (/^TRACE_/i.test(kind)) return KNOWN[3] as EventGroup;
  return KNOWN.find((group) => group.holds(kind)) ?? OTHERS;
}

/** The groups that occur among kinds, in a fixed order. */
export function groupsAmong(kinds: Kind[]): EventGroup[] {
  const groups = new Set(kinds.map(({ name }) => groupOf(name)));
  return [...KNOWN, OTHERS].filter((group) => groups.has(group));
}
