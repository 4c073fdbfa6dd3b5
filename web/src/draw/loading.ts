// Draws the parts of a picture that have not been loaded as dashed lines, so that they do not look like idle time.
import type { Bins } from "../model/curves";
import type { Range } from "../model/selection";
import type { Painter } from "./painter";
import { mixed, paper } from "./palette";

const [DASH, STEP, THICK] = [6, 12, 2];

/** The parts of a window that no piece covers. */
export function uncovered(pieces: readonly Range[], window: Range): Range[] {
  const gaps: Range[] = [];
  let at = window.begin;
  for (const { begin, end } of [...pieces].sort((a, b) => a.begin - b.begin)) {
    if (begin > at) gaps.push({ begin: at, end: Math.min(begin, window.end) });
    at = Math.max(at, end);
    if (at >= window.end) return gaps;
  }
  if (at < window.end) gaps.push({ begin: at, end: window.end });
  return gaps;
}

/** The part of a window in which there can be something. */
export const inside = (window: Range, { begin, end }: Range): Range => ({
  begin: Math.max(window.begin, begin),
  end: Math.min(window.end, end),
});

export function uncoveredByBins(parts: readonly Bins[], window: Range): Range[] {
  const pieces = parts.map(({ begin, width, first, last }) => ({
    begin: begin + first * width,
    end: begin + last * width,
  }));
  return uncovered(pieces, window);
}

export function paintLoading(painter: Painter, gaps: readonly Range[], toX: (time: number) => number, y: number): void {
  const dashes: number[] = [];
  for (const gap of gaps) {
    const [from, to] = [toX(gap.begin), toX(gap.end)];
    if (to - from < DASH) continue; // no more than rounding
    for (let x = Math.ceil(from / STEP) * STEP; x < to; x += STEP) {
      dashes.push(x, y - THICK / 2, Math.min(DASH, to - x), THICK);
    }
  }
  if (dashes.length) painter.rects(dashes, mixed(paper("faint"), paper("background"), 0.5));
}

const LEAST_WITH_TEXT = 70;

/** The same in a chart, where a line would be a value. */
export function paintLoadingText(
  painter: Painter,
  gaps: readonly Range[],
  toX: (time: number) => number,
  y: number,
): void {
  for (const { begin, end } of gaps) {
    const [from, to] = [toX(begin), toX(end)];
    if (to - from > LEAST_WITH_TEXT) painter.text((from + to) / 2, y, "Loading…", paper("faint"), { align: "center" });
  }
}
