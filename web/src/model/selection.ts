// The one selection. Whatever is clicked anywhere becomes part of it, every view follows it, and the URL holds it.
import { signal } from "@preact/signals";

/** A line of a source file. */
export interface SourceLine {
  file: string;
  line: number;
}

export interface Range {
  begin: number;
  end: number;
}

export interface Selection {
  /** Code row: an instruction. */
  row?: number | undefined;
  /** Last row of several instructions that start at `row`; absent = only `row`. */
  lastRow?: number | undefined;
  sourceLine?: SourceLine | undefined;
  /** Wave (its number in the trace): the target wave of per-wave figures and arrows. */
  wave?: number | undefined;
  /** Which execution of `row` in `wave`, from 0. */
  iteration?: number | undefined;
  /** Interval of time: aligned cycles of a trace, nanoseconds since the start of a run. */
  range?: Range | undefined;
  /** Tracks of a timeline that `range` was dragged over, as model/area.ts writes them; absent = all. */
  tracks?: string | undefined;
  /** Whether tables, charts and sums are only about `range` (model/time_part.ts). */
  onlyRange?: boolean | undefined;
  /** Kernel of a trace: its number. */
  kernel?: number | undefined;
  /** Kernel of a run: its name. */
  kernelName?: string | undefined;
  /** Kernel of a counter capture: its rank by time. */
  kernelRank?: number | undefined;
  /** Metric of a counter capture: panel.table.index. */
  metric?: string | undefined;
  /** What amounts of a counter capture are divided by: wave, cycle or second; absent = kernel. */
  per?: string | undefined;
  /** One span of a run's timeline, as `<layer>:<id>`. */
  span?: string | undefined;
}

export const selection = signal<Selection>({});
/** What the pointer is over: the same shape, never in the URL. */
export const preview = signal<Selection>({});

/** Called when the selection was changed by the user, so that the URL gets a new entry; `app/location.ts` sets it. */
let remember: () => void = () => {};
export function onSelect(listener: () => void): void {
  remember = listener;
}

/** Change some parts of the selection; `undefined` clears one. Parts that do not fit any more are dropped by the caller. */
export function select(change: Selection): void {
  const next = { ...selection.value, ...change };
  if (JSON.stringify(next) === JSON.stringify(selection.value)) return;
  selection.value = next;
  remember();
}

export function clearSelection(): void {
  selection.value = {};
  remember();
}
