// The interval on screen, one for all timelines and curves of the current document.
import { computed, signal } from "@preact/signals";
import { overview } from "./document";
import type { Range } from "./selection";
import { settings } from "./settings";

export const bounds = signal<Range>({ begin: 0, end: 1 });
/** What is on screen: inside `bounds`. */
export const shown = signal<Range>({ begin: 0, end: 1 });

/** The shortest interval that can be shown. */
const SHORTEST = 16;
/** Beside the traced waves, as a share of their time: their edges are seen. */
const MARGIN = 0.01;
/** Of a run: less than this share of its time is shown alone at first. */
const SMALL_PART = 0.1;

/**
 * What is shown at first: the time of the traced waves, because other compute units go on long after them; of a run
 * whose GPUs work for a small part only, that part; else everything.
 */
export const firstWindow = computed<Range>(() => {
  const facts = overview.value;
  const whole = bounds.value;
  if (facts?.kind === "run") return gpuWindow(facts.processes, whole);
  if (facts?.kind !== "trace" || facts.traced_start_cycles == null || facts.traced_end_cycles == null) return whole;
  const [from, to] = [facts.traced_start_cycles, facts.traced_end_cycles];
  const margin = Math.max(SHORTEST / 2, (to - from) * MARGIN);
  return { begin: Math.max(whole.begin, from - margin), end: Math.min(whole.end, to + margin) };
});

/** From the first to the last work of GPUs with its surroundings, where the whole would show it as a line. */
export function gpuWindow(processes: { gpu_begin: number | null; gpu_end: number | null }[], whole: Range): Range {
  const begin = Math.min(...processes.map((process) => process.gpu_begin ?? Number.POSITIVE_INFINITY));
  const end = Math.max(...processes.map((process) => process.gpu_end ?? Number.NEGATIVE_INFINITY));
  const length = end - begin;
  if (!(length > 0) || length > (whole.end - whole.begin) * SMALL_PART) return whole;
  return { begin: Math.max(whole.begin, begin - length / 4), end: Math.min(whole.end, end + length / 4) };
}

/** What the time axis counts from: the start of the trace, unless absolute times are wanted. */
export const axisOrigin = computed(() => (settings.value.axis === "absolute" ? 0 : bounds.value.begin));

export function setBounds(range: Range): void {
  bounds.value = { begin: range.begin, end: Math.max(range.end, range.begin + SHORTEST) };
  shown.value = bounds.value;
}

/** Show an interval, moved and shortened so that it lies inside the bounds. */
export function show(range: Range): void {
  const { begin: first, end: last } = bounds.value;
  const length = Math.min(Math.max(range.end - range.begin, SHORTEST), last - first);
  const begin = Math.min(Math.max(range.begin, first), last - length);
  if (begin !== shown.value.begin || begin + length !== shown.value.end) shown.value = { begin, end: begin + length };
}

/** Zoom by a factor (below 1 = closer) around a time that stays where it is. */
export function zoom(factor: number, around: number): void {
  const { begin, end } = shown.value;
  show({ begin: around - (around - begin) * factor, end: around + (end - around) * factor });
}

/** Move by a share of what is on screen. */
export function pan(share: number): void {
  const { begin, end } = shown.value;
  const move = (end - begin) * share;
  show({ begin: begin + move, end: end + move });
}

export function showAll(): void {
  show(bounds.value);
}

/** The first window; when it is on screen already, the whole time. */
export function fitTime(): void {
  const first = firstWindow.value;
  show(shown.value.begin === first.begin && shown.value.end === first.end ? bounds.value : first);
}

/** Bring a time onto the screen if it is not, keeping the zoom. */
export function reveal(time: number): void {
  const { begin, end } = shown.value;
  if (time >= begin && time <= end) return;
  const half = (end - begin) / 2;
  show({ begin: time - half, end: time + half });
}
