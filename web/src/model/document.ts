// The documents of this page and the one on screen.
import { computed, effect, type Signal, signal } from "@preact/signals";
import type { CounterKernelsRow, RunOverviewGpusRow, RunOverviewProcessesRow } from "../data/answers.gen";
import { askDocuments, askJson, type DocumentLine } from "../data/ask";
import type { AnswerError } from "../data/source";

export interface TraceOverview {
  kind: "trace";
  source: { path: string; agent: number | null; dispatch: number | null; target: string | null; format: string };
  gfxip: number;
  start_cycles: number;
  end_cycles: number;
  /** From the first begin to the last end of a traced wave; 0 = none was traced. */
  span_cycles: number;
  /** First start and last end of a traced wave, aligned; absent = none was traced. */
  traced_start_cycles?: number | null;
  traced_end_cycles?: number | null;
  clock_mhz: number | null;
  clocks: { offsets: Record<string, number>; is_aligned: boolean; reason: string };
  wave_count: number;
  instruction_count: number;
  row_count: number;
  /** Rows that the compiler gave a source line. */
  line_row_count: number;
  /** Why there are no figures by instruction or line although instructions were executed; empty = there are. */
  unknown_code: string;
  kernels: { kernel: number; name: string; demangled: string }[];
  /** Numbers of the kernels that traced waves entered, the one with the most waves first. */
  traced_kernels: number[];
  losses: LossLine[];
  categories: Record<string, string>;
  states: Record<string, string>;
  sample_reasons: string[];
  holds: Record<string, number>;
}

export interface LossLine {
  kind: string;
  count: number;
  /** What `count` counts; absent = times. */
  counted_in?: string;
  se: number | null;
  /** Cycle of its shader engine's own clock. */
  time_cycles?: number | null;
  byte_offset?: number | null;
  message: string;
  advice: string;
  is_damage: boolean;
}

export interface RunOverview {
  kind: "run";
  duration_ns: number;
  /** Every node counts from its own begin: clocks of nodes are not compared. */
  clocks: {
    nodes: { machine: string; node: string; start_ns: string | null; duration_ns: number | null }[];
    definition: string;
  };
  formats: string[];
  processes: RunOverviewProcessesRow[];
  gpus: RunOverviewGpusRow[];
  /** Rows per table. */
  holds: Record<string, number>;
  losses: LossLine[];
}

export interface CountersOverview {
  kind: "counters";
  target: string | null;
  product: string | null;
  dispatch_count: number;
  pass_count: number;
  counter_count: number;
  /** How many GPUs ran dispatches; 0 = not said. */
  gpu_count: number;
  /** Kernels there are; `kernels` has the first of them. */
  kernel_count: number;
  /** The longest first. */
  kernels: CounterKernelsRow[];
  /** Facts about the machine, and which file says each. */
  system: { name: string; value: string; said_by: string }[];
  losses: LossLine[];
}

/** A store of what many captures measured. */
export interface StoreOverview {
  kind: "store";
  capture_count: number;
  commit_count: number;
  damaged_count: number;
  targets: string[];
  /** The quantities that can be followed, those that most captures have first. */
  series: { title: string; capture_count: number }[];
  losses: LossLine[];
}

export type Overview = TraceOverview | RunOverview | CountersOverview | StoreOverview;

export const documents = signal<DocumentLine[]>([]);
export const current = signal(0);
export const overview = signal<Overview | null>(null);
/** Why the current document cannot be shown at all. */
export const unreadable = signal<AnswerError | null>(null);
/** The label of a document that is on its way; empty = none is. */
export const opening = signal("");
export const kind = computed(() => overview.value?.kind ?? null);

/** A choice that belongs to one document: it begins anew with the next. */
export function ofDocument<T>(initial: T): Signal<T> {
  const choice = signal(initial);
  effect(() => {
    void overview.value;
    choice.value = initial;
  });
  return choice;
}

export async function loadDocuments(again = false): Promise<void> {
  documents.value = await askDocuments(again);
}

/** What every view of a document may rely on; says in the list of documents what kind it is. */
export async function askOverview(number: number): Promise<Overview> {
  const facts = await askJson<Overview>(number, "overview");
  if (documents.value[number]?.kind !== facts.kind) {
    documents.value = documents.value.map((line) => (line.number === number ? { ...line, kind: facts.kind } : line));
  }
  return facts;
}

/** The overview of a thread trace, for its views: they are only shown when there is one. */
export function traceOverview(): TraceOverview {
  const value = overview.value;
  if (value?.kind !== "trace") throw new Error("this view is about thread traces");
  return value;
}

/** The overview of a run, for its views. */
export function runOverview(): RunOverview {
  const value = overview.value;
  if (value?.kind !== "run") throw new Error("this view is about runs");
  return value;
}

/** The overview of a counter capture, for its views. */
export function countersOverview(): CountersOverview {
  const value = overview.value;
  if (value?.kind !== "counters") throw new Error("this view is about counter captures");
  return value;
}

/** What to say where there is nothing by instruction or line: that the code is missing, if that is the reason. */
export function unlessUnknown(otherwise: string): string {
  const value = overview.value;
  return (value?.kind === "trace" && value.unknown_code) || otherwise;
}

/** What times of the current document are counted in. */
export function timeUnit(): "cycles" | "ns" {
  return overview.value?.kind === "run" ? "ns" : "cycles";
}

/** The clock of a trace, where it is known: runs are in nanoseconds anyway. */
export function clockMhz(): number | null {
  return overview.value?.kind === "trace" ? overview.value.clock_mhz : null;
}
