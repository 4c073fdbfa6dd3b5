// A chart of step curves: axes, the band between smallest and largest value, the mean, marks in time.
import { exact } from "../base/format";
import type { Bins } from "../model/curves";
import type { Range } from "../model/selection";
import { axisOrigin } from "../model/timewindow";
import { letterWidth, type Painter } from "./painter";
import { paper } from "./palette";
import { durationText, tickNanoseconds, ticks } from "./ticks";
import { fits } from "./time_axis";

export const GUTTER = 58;
const RIGHT = 6;
const TOP = 8;
/** Where the unit of the values stands above them: no line runs through it. */
export const BELOW_UNIT = 18;
const LINE = 15;

export interface ValueRange {
  low: number;
  high: number;
}

export interface ChartFrameParts {
  window: Range;
  values: ValueRange;
  /** Size of the chart with its axes, in pixels. */
  width: number;
  height: number;
  /** Of the shader clock: there is a second time axis, in seconds. */
  clockMhz?: number | null;
  /** Of times. */
  unit?: "cycles" | "ns";
  /** Pixels beside and above the curves. */
  left?: number;
  right?: number;
  top?: number;
}

/** Where time and values stand on a chart. */
export class ChartFrame {
  readonly window: Range;
  readonly values: ValueRange;
  readonly width: number;
  readonly clockMhz: number | null;
  readonly unit: "cycles" | "ns";
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  readonly plotWidth: number;
  readonly plotHeight: number;

  constructor({ window, values, width, height, ...optional }: ChartFrameParts) {
    const { clockMhz = null, unit = "cycles", left = GUTTER, right = RIGHT, top = TOP } = optional;
    this.window = window;
    this.values = values;
    this.width = width;
    this.clockMhz = clockMhz;
    this.unit = unit;
    this.left = left;
    this.top = top;
    this.bottom = Math.max(top + 10, height - (clockMhz ? 2 * LINE : LINE) - 4);
    this.plotWidth = Math.max(1, width - left - right);
    this.plotHeight = this.bottom - top;
  }

  x(time: number): number {
    return this.left + ((time - this.window.begin) / (this.window.end - this.window.begin)) * this.plotWidth;
  }

  time(x: number): number {
    return this.window.begin + ((x - this.left) / this.plotWidth) * (this.window.end - this.window.begin);
  }

  y(value: number): number {
    const { low, high } = this.values;
    return this.bottom - ((value - low) / (high - low)) * this.plotHeight;
  }

  value(y: number): number {
    const { low, high } = this.values;
    return low + ((this.bottom - y) / this.plotHeight) * (high - low);
  }
}

/** A little more than what the values need; never empty. */
export function valueRange(low: number, high: number, fromZero: boolean): ValueRange {
  if (!(high >= low)) return { low: 0, high: 1 };
  const from = fromZero ? Math.min(0, low) : low;
  const margin = fromZero ? (high - from) * 0.06 || 1 : Math.max((high - low) * 0.06, Math.abs(high) * 0.02) || 1;
  return { low: fromZero && low >= 0 ? 0 : from - margin, high: high + margin };
}

const UNITS = [
  [1e9, " G"],
  [1e6, " M"],
  [1e3, " K"],
] as const;

/** A value of the axis: all in one unit, with as many digits as the step needs to tell them apart. */
export function tickValue(value: number, step: number, { low, high }: ValueRange): string {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const [scale, unit] = UNITS.find(([scale]) => size >= 10 * scale) ?? [1, ""];
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9)));
  const shown = value / scale;
  return `${shown.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}${unit}`;
}

export function paintAxes(painter: Painter, frame: ChartFrame, origin: number, unit: string, hasValues = true): void {
  const { left, top, bottom, plotWidth, values, window } = frame;
  const rows = ticks(values.low, values.high, frame.plotHeight, 34);
  for (const value of hasValues ? rows.times : []) {
    const y = Math.round(frame.y(value)) + 0.5;
    painter.polyline([left, y, left + plotWidth, y], paper("line"), 1);
    painter.text(left - 6, y, tickValue(value, rows.step, values), paper("faint"), { align: "right" });
  }
  const from = axisOrigin.value;
  const columns = ticks(window.begin, window.end, plotWidth, 92, from, 1);
  const edge = left + plotWidth + 6;
  painter.clipped(left - 1, top, plotWidth + 2, frame.bottom - top + 40, () => {
    for (const time of columns.times) {
      const x = Math.round(frame.x(time)) + 0.5;
      painter.polyline([x, bottom, x, bottom + 4], paper("faint"), 1);
      const text = frame.unit === "ns" ? tickNanoseconds(time - from, columns.step) : exact(time - from);
      if (fits(x + 3, text, edge)) painter.text(x + 3, bottom + LINE / 2 + 2, text, paper("faint"));
    }
    if (!frame.clockMhz) return;
    const perCycle = 1e3 / frame.clockMhz;
    const marks = ticks((window.begin - origin) * perCycle, (window.end - origin) * perCycle, plotWidth, 92);
    for (const time of marks.times) {
      const x = frame.x(origin + time / perCycle);
      const text = tickNanoseconds(time, marks.step);
      if (fits(x + 3, text, edge)) painter.text(x + 3, bottom + LINE * 1.5 + 2, text, paper("faint"), { size: 10 });
    }
  });
  painter.text(4, bottom + LINE / 2 + 2, frame.unit === "ns" ? "time" : "cycles", paper("faint"), { size: 10 });
  if (frame.clockMhz) painter.text(4, bottom + LINE * 1.5 + 2, "time", paper("faint"), { size: 10 });
  if (unit) painter.text(left + 5, top - 9, unit, paper("faint"), { size: 10 });
  painter.polyline([left + 0.5, top, left + 0.5, bottom + 0.5, left + plotWidth, bottom + 0.5], paper("faint"), 1);
}

const LINE_WIDTH = 1.5;
/** Up to this width a column is drawn in one piece with the jump to it. */
const NARROW = 3;

/**
 * One series: first the band of all its values, then the line of its means. Rectangles on whole pixels, because paths of
 * thousands of corners take far longer to draw.
 */
export function paintCurve(painter: Painter, frame: ChartFrame, parts: Bins[], series: number, colour: string): void {
  const band: number[] = [];
  const line: number[] = [];
  let before = Number.NaN;
  eachColumn(frame, parts, series, (x, width, mean, low, high, isFirst) => {
    const y = frame.y(mean);
    const [yLow, yHigh] = [Math.round(frame.y(low)), Math.round(frame.y(high))];
    if (yLow > yHigh) band.push(x, yHigh, width, yLow - yHigh);
    const jump = isFirst ? 0 : Math.abs(y - before);
    const top = jump ? Math.min(y, before) : y;
    if (width <= NARROW) line.push(x, top - LINE_WIDTH / 2, width, jump + LINE_WIDTH);
    else {
      line.push(x, y - LINE_WIDTH / 2, width, LINE_WIDTH);
      if (jump > 0.5) line.push(x - LINE_WIDTH / 2, top - LINE_WIDTH / 2, LINE_WIDTH, jump + LINE_WIDTH);
    }
    before = y;
  });
  if (band.length) painter.rects(band, `${colour}40`);
  if (line.length) painter.rects(line, colour);
}

type Visit = (x: number, width: number, mean: number, low: number, high: number, isFirst: boolean) => void;

/**
 * The values of a series on whole pixels, from left to right. Bins that share a pixel are joined, so that no spike is
 * lost; equal neighbours too. `isFirst`: nothing stands before, or a gap.
 */
export function eachColumn(frame: ChartFrame, parts: Bins[], series: number, visit: Visit): void {
  let [x, at, mean, low, high, count] = [Number.NaN, Number.NaN, 0, 0, 0, 0];
  let [isFirst, time] = [true, Number.NaN];
  const flush = () => {
    if (count) visit(x, Math.max(1, at - x), mean, low, high, isFirst);
    if (count) isFirst = false;
    count = 0;
  };
  for (const { tile, begin, width, first, last } of parts) {
    const offset = series * tile.count;
    for (let i = first; i < last; i++) {
      const from = begin + i * width;
      const value = tile.mean[offset + i] as number;
      if (from !== time || Number.isNaN(value)) {
        flush();
        isFirst = true;
      }
      time = from + width;
      if (Number.isNaN(value)) continue;
      const [least, most] = [tile.low[offset + i] as number, tile.high[offset + i] as number];
      const end = Math.round(frame.x(time));
      if (count && at === x) {
        count += 1;
        mean += (value - mean) / count;
        low = Math.min(low, least);
        high = Math.max(high, most);
      } else if (!count || mean !== value || low !== least || high !== most) {
        const start = count ? at : isFirst ? Math.round(frame.x(from)) : at;
        flush();
        [x, mean, low, high, count] = [start, value, least, most, 1];
      }
      at = Math.max(end, x);
    }
  }
  flush();
}

export function paintBand(painter: Painter, frame: ChartFrame, range: Range, colour: string): void {
  const from = frame.x(range.begin);
  const to = Math.max(frame.x(range.end), from + 1);
  painter.rect(from, frame.top, to - from, frame.plotHeight, `${colour}2e`);
  painter.polyline([from, frame.top, from, frame.bottom], colour, 1);
  painter.polyline([to, frame.top, to, frame.bottom], colour, 1);
}

/** The length of an interval, in words, at the foot of the chart. */
export function paintLength(painter: Painter, frame: ChartFrame, range: Range): void {
  const [from, to, right] = [frame.x(range.begin), frame.x(range.end), frame.left + frame.plotWidth];
  if (to < frame.left || from > right) return;
  const text = durationText(range.end - range.begin, frame.unit, frame.clockMhz);
  const wide = text.length * letterWidth() + 12;
  const left = Math.min(Math.max((from + to - wide) / 2, frame.left + 2), Math.max(frame.left + 2, right - wide - 2));
  painter.rect(left, frame.bottom - 20, wide, 17, paper("raised"));
  painter.text(left + wide / 2, frame.bottom - 11, text, paper("text"), { align: "center", maxWidth: wide - 4 });
}

export function paintLine(painter: Painter, frame: ChartFrame, time: number, colour: string, dash: number[]): void {
  const x = Math.round(frame.x(time)) + 0.5;
  painter.polyline([x, frame.top, x, frame.bottom], colour, 1.2, dash);
}

export interface LegendEntry {
  label: string;
  colour: string;
}

/** The legend of a saved picture, in rows below the chart. */
export function paintLegend(painter: Painter, entries: LegendEntry[], y: number, width: number): void {
  let [x, row] = [GUTTER, 0];
  for (const { label, colour } of entries) {
    const wide = Math.min(label.length * letterWidth() + 26, width - GUTTER);
    if (x + wide > width && x > GUTTER) [x, row] = [GUTTER, row + 1];
    painter.rect(x, y + row * 16 + 3, 10, 10, colour);
    painter.text(x + 14, y + row * 16 + 8, label, paper("text"), { maxWidth: wide - 14 });
    x += wide;
  }
}

export function legendHeight(entries: LegendEntry[], width: number): number {
  let [x, rows] = [GUTTER, 1];
  for (const { label } of entries) {
    const wide = Math.min(label.length * letterWidth() + 26, width - GUTTER);
    if (x + wide > width && x > GUTTER) [x, rows] = [GUTTER, rows + 1];
    x += wide;
  }
  return rows * 16 + 6;
}
