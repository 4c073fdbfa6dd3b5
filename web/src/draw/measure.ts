// What lies over a timeline: the selected interval with its length, the line under the pointer, outlines of spans.
import type { Range } from "../model/selection";
import type { Frame } from "./frame";
import { letterWidth, type Painter } from "./painter";
import { colourOf, paper } from "./palette";
import { durationText, momentText, timeText } from "./ticks";

/** Appended to #rrggbb. What is not selected fades, so that the band is seen over spans of any colour. */
const FADED = "70";

/** The part of the height that tracks take: y and height on the canvas, neighbours joined. */
export function trackPlaces(frame: Frame, layer: string, tracks: ReadonlySet<number>): [y: number, height: number][] {
  const places: [number, number][] = [];
  for (const { strips, y, height } of frame.visibleRows()) {
    if (!strips.some((strip) => strip.layer.name === layer && tracks.has(strip.track))) continue;
    const [at, last] = [frame.toScreen(y), places.at(-1)];
    if (last && Math.abs(last[0] + last[1] - at) < 0.5) last[1] += height;
    else places.push([at, height]);
  }
  return places;
}

export interface MarkedRange {
  range: Range;
  /** The parts of the height that are selected, from the top down (`trackPlaces`); null = all tracks are. */
  places: [y: number, height: number][] | null;
  /** What stands on it, above the tracks: its start and length; empty = nothing. */
  text: string;
}

/** A selected interval: a band between faded parts. */
export function paintRange(painter: Painter, frame: Frame, { range, places, text }: MarkedRange): void {
  const { gutter, top, height, width } = frame.parts;
  const from = frame.timeToX(range.begin);
  const to = frame.timeToX(range.end);
  if (to < gutter || from > width) return;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    const fade = (x: number, y: number, fadedWidth: number, fadedHeight: number) => {
      if (fadedWidth > 0 && fadedHeight > 0)
        painter.rect(x, y, fadedWidth, fadedHeight, `${paper("background")}${FADED}`);
    };
    const bandWidth = Math.max(1, to - from);
    fade(gutter, top, from - gutter, height - top);
    fade(to, top, width - to, height - top);
    let bottom = top; // of what is painted of the band
    for (const [y, placeHeight] of places ?? [[top, height - top] as [number, number]]) {
      fade(from, bottom, bandWidth, y - bottom);
      painter.rect(from, y, bandWidth, placeHeight, `${paper("accent")}2e`);
      bottom = y + placeHeight;
      painter.polyline([from, y, from, bottom], paper("accent"), 1);
      painter.polyline([to, y, to, bottom], paper("accent"), 1);
      if (!places) continue;
      painter.polyline([from, y, to, y], paper("accent"), 1);
      painter.polyline([from, bottom, to, bottom], paper("accent"), 1);
    }
    fade(from, bottom, bandWidth, height - bottom);
    if (text) paintOnRange(painter, frame, (from + to) / 2, text);
  });
}

/** A text around an x above the tracks, moved so that all of it is seen. */
function paintOnRange(painter: Painter, frame: Frame, x: number, text: string): void {
  const { gutter, top, width } = frame.parts;
  const room = text.length * letterWidth() + 12;
  const left = Math.min(Math.max(x - room / 2, gutter + 2), Math.max(gutter + 2, width - room - 2));
  painter.rect(left, top + 3, room, 17, paper("raised"));
  painter.text(left + room / 2, top + 12, text, paper("text"), { align: "center", maxWidth: room - 4 });
}

/** "from 1,200 · 64 cycles (0.031 µs) · 17 instructions" */
export function measureText(frame: Frame, range: Range, more: string[]): string {
  const { unit, clockMhz, origin } = frame.parts;
  const length = durationText(range.end - range.begin, unit, clockMhz);
  return [`from ${timeText(range.begin - origin, unit)}`, length, ...more.filter(Boolean)].join(" · ");
}

/** A vertical line at a time, with the time on the axis. */
export function paintCursor(painter: Painter, frame: Frame, x: number, axisY: number): void {
  const { gutter, height, top, unit, width, origin } = frame.parts;
  if (x < gutter) return;
  painter.polyline([Math.round(x) + 0.5, axisY, Math.round(x) + 0.5, height], paper("faint"), 1);
  const text = momentText(frame.xToTime(x), unit, origin);
  const wide = text.length * letterWidth() + 10;
  const left = Math.min(x + 2, width - wide);
  painter.rect(left, axisY + 1, wide, Math.min(15, top - axisY - 2), paper("preview"));
  painter.text(left + 5, axisY + 8, text, paper("text"), { size: 11 });
}

/** A vertical line through all tracks at a time: the selected execution, where its own span is not known. */
export function paintMoment(painter: Painter, frame: Frame, time: number): void {
  const { gutter, top, height, width } = frame.parts;
  const x = Math.round(frame.timeToX(time)) + 0.5;
  if (x >= gutter && x <= width) painter.polyline([x, top, x, height], colourOf("instant"), 1);
}

interface Outline {
  /** The track, or a part of its height, on the canvas. */
  place: { y: number; height: number };
  range: Range;
  colour: string;
  /** Of the line, in pixels; default: 2. */
  width?: number;
}

/** A frame around an interval of a track, at least wide enough to be seen. */
export function outline(painter: Painter, frame: Frame, { place, range, colour, width = 2 }: Outline): void {
  const { gutter, top, height } = frame.parts;
  const from = frame.timeToX(range.begin);
  const to = Math.max(frame.timeToX(range.end), from + 3);
  const [y, bottom] = [place.y, place.y + Math.max(place.height, 2)];
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    // the last line ends half of its width beyond the first corner: without that the corner would have a notch
    painter.polyline([from, y, to, y, to, bottom, from, bottom, from, y - width / 2], colour, width);
  });
}
