// The interval on screen, one for all timelines and curves of the current document.
import { signal } from "@preact/signals";
import type { Range } from "./selection";

export const bounds = signal<Range>({ begin: 0, end: 1 });
/** What is on screen: inside `bounds`. */
export const shown = signal<Range>({ begin: 0, end: 1 });

/** The shortest interval that can be shown. */
const SHORTEST = 16;

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

/** Bring a time onto the screen if it is not, keeping the zoom. */
export function reveal(time: number): void {
  const { begin, end } = shown.value;
  if (time >= begin && time <= end) return;
  const half = (end - begin) / 2;
  show({ begin: time - half, end: time + half });
}
