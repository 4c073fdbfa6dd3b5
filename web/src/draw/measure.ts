// What lies over a timeline: the selected interval with its length, the line under the pointer, outlines of spans.
import type { Range } from "../model/selection";
import type { Frame } from "./frame";
import { letterWidth, type Painter } from "./painter";
import { colourOf, paper } from "./palette";
import { durationText, timeText } from "./ticks";

/** What is not selected fades, so that the band is seen over spans of any colour. */
const FADED = "70";

/** A selected interval: a band between faded parts and, above the lanes, its start and length. */
export function paintRange(painter: Painter, frame: Frame, range: Range, more: string): void {
  const { gutter, top, height, unit, clockMhz, width } = frame.parts;
  const from = frame.timeToX(range.begin);
  const to = frame.timeToX(range.end);
  if (to < gutter || from > width) return;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    const faded = `${paper("background")}${FADED}`;
    if (from > gutter) painter.rect(gutter, top, from - gutter, height - top, faded);
    if (to < width) painter.rect(to, top, width - to, height - top, faded);
    painter.rect(from, top, Math.max(1, to - from), height - top, `${paper("accent")}2e`);
    painter.polyline([from, top, from, height], paper("accent"), 1);
    painter.polyline([to, top, to, height], paper("accent"), 1);
    const text = measureText(range, unit, clockMhz, more);
    const wide = text.length * letterWidth() + 12;
    const left = Math.min(Math.max((from + to) / 2 - wide / 2, gutter + 2), Math.max(gutter + 2, width - wide - 2));
    painter.rect(left, top + 3, wide, 17, paper("raised"));
    painter.text(left + wide / 2, top + 12, text, paper("text"), { align: "center", maxWidth: wide - 4 });
  });
}

/** "from 1,200 · 64 cycles (0.031 µs) · 17 instructions" */
export function measureText(range: Range, unit: "cycles" | "ns", clockMhz: number | null, more: string): string {
  const parts = [`from ${timeText(range.begin, unit)}`, durationText(range.end - range.begin, unit, clockMhz)];
  if (more) parts.push(more);
  return parts.join(" · ");
}

/** A vertical line at a time, with the time on the axis. */
export function paintCursor(painter: Painter, frame: Frame, x: number, axisY: number): void {
  const { gutter, height, top, unit, width } = frame.parts;
  if (x < gutter) return;
  painter.polyline([Math.round(x) + 0.5, axisY, Math.round(x) + 0.5, height], paper("faint"), 1);
  const text = timeText(frame.xToTime(x), unit);
  const wide = text.length * letterWidth() + 10;
  const left = Math.min(x + 2, width - wide);
  painter.rect(left, axisY + 1, wide, Math.min(15, top - axisY - 2), paper("preview"));
  painter.text(left + 5, axisY + 8, text, paper("text"), { size: 11 });
}

/** A vertical line through all lanes at a time: the selected execution, where its own span is not known. */
export function paintMoment(painter: Painter, frame: Frame, time: number): void {
  const { gutter, top, height, width } = frame.parts;
  const x = Math.round(frame.timeToX(time)) + 0.5;
  if (x >= gutter && x <= width) painter.polyline([x, top, x, height], colourOf("instant"), 1);
}

/** A frame around an interval of a lane, at least wide enough to be seen. */
export function outline(
  painter: Painter,
  frame: Frame,
  place: { y: number; height: number },
  range: Range,
  colour: string,
  width = 2,
): void {
  const { gutter, top, height } = frame.parts;
  const from = frame.timeToX(range.begin);
  const to = Math.max(frame.timeToX(range.end), from + 3);
  const [y, bottom] = [place.y, place.y + Math.max(place.height, 2)];
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    painter.polyline([from, y, to, y, to, bottom, from, bottom, from, y - width / 2], colour, width);
  });
}
