// A chart of step curves: where time and values stand on it, its axes, curves (the line of the means, and the band between
// smallest and largest value), marks in time, and the legend of saved pictures. Curves come as bins of tiles (model/curves.ts).
import { exact } from "../base/format";
import type { Bins } from "../model/curves";
import type { Range } from "../model/selection";
import { axisOrigin } from "../model/timewindow";
import { letterWidth, type Painter } from "./painter";
import { paper } from "./palette";
import { durationText, tickNanoseconds, ticks } from "./ticks";
import { fits } from "./time_axis";

/** Pixels beside the curves: at the left, where values are written, at the right and above. */
export const GUTTER = 58;
const RIGHT = 6;
const TOP = 8;
/** Pixels above the curves where the unit of the values stands there: no line runs through it. */
export const BELOW_UNIT = 18;
/** Height of a line of numbers of a time axis, in pixels. */
const AXIS_LINE = 15;

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
    this.bottom = Math.max(top + 10, height - (clockMhz ? 2 * AXIS_LINE : AXIS_LINE) - 4);
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

/** A little more than what values between `low` and `high` need; never empty, also where there is no value (NaN). */
export function valueRange(low: number, high: number, fromZero: boolean): ValueRange {
  if (!(high >= low)) return { low: 0, high: 1 };
  const from = fromZero ? Math.min(0, low) : low;
  // 6 % of the range, or 2 % of the value where all are equal
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

/** Least pixels between two ticks: of values, of times. */
const VALUE_GAP = 34;
const TIME_GAP = 92;

export interface AxesParts {
  /** The time from which the second time axis, in seconds, counts: the start of the document. */
  start: number;
  /** Of the values; empty = not said. */
  unit: string;
  /** Whether values have numbers and lines; default: they do. */
  hasValues?: boolean;
}

/** Grid lines and numbers of the values, one or two lines of times, and the edges of the chart. */
export function paintAxes(painter: Painter, frame: ChartFrame, { start, unit, hasValues = true }: AxesParts): void {
  const { left, top, bottom, plotWidth } = frame;
  if (hasValues) paintValueGrid(painter, frame);
  painter.clipped(left - 1, top, plotWidth + 2, bottom - top + 40, () => {
    paintTimes(painter, frame);
    if (frame.clockMhz) paintSeconds(painter, frame, start, frame.clockMhz);
  });
  painter.text(4, bottom + AXIS_LINE / 2 + 2, frame.unit === "ns" ? "time" : "cycles", paper("faint"), { size: 10 });
  if (frame.clockMhz) painter.text(4, bottom + AXIS_LINE * 1.5 + 2, "time", paper("faint"), { size: 10 });
  if (unit) painter.text(left + 5, top - 9, unit, paper("faint"), { size: 10 });
  painter.polyline([left + 0.5, top, left + 0.5, bottom + 0.5, left + plotWidth, bottom + 0.5], paper("faint"), 1);
}

function paintValueGrid(painter: Painter, frame: ChartFrame): void {
  const { left, plotWidth, values } = frame;
  const { times: lines, step } = ticks(values.low, values.high, frame.plotHeight, VALUE_GAP);
  for (const value of lines) {
    const y = Math.round(frame.y(value)) + 0.5;
    painter.polyline([left, y, left + plotWidth, y], paper("line"), 1);
    painter.text(left - 6, y, tickValue(value, step, values), paper("faint"), { align: "right" });
  }
}

/** The first line of times, in the unit of the document, counted from the origin that the user chose. */
function paintTimes(painter: Painter, frame: ChartFrame): void {
  const { bottom, plotWidth, window } = frame;
  const origin = axisOrigin.value;
  const { times, step } = ticks(window.begin, window.end, plotWidth, TIME_GAP, { origin, leastStep: 1 });
  for (const time of times) {
    const x = Math.round(frame.x(time)) + 0.5;
    painter.polyline([x, bottom, x, bottom + 4], paper("faint"), 1);
    const text = frame.unit === "ns" ? tickNanoseconds(time - origin, step) : exact(time - origin);
    if (fits(x + 3, text, frame.left + plotWidth + 6)) {
      painter.text(x + 3, bottom + AXIS_LINE / 2 + 2, text, paper("faint"));
    }
  }
}

/** The second line of times: cycles since `start` in seconds. */
function paintSeconds(painter: Painter, frame: ChartFrame, start: number, clockMhz: number): void {
  const { bottom, plotWidth, window } = frame;
  const nsPerCycle = 1e3 / clockMhz;
  const [from, to] = [(window.begin - start) * nsPerCycle, (window.end - start) * nsPerCycle];
  const { times, step } = ticks(from, to, plotWidth, TIME_GAP);
  for (const ns of times) {
    const x = frame.x(start + ns / nsPerCycle);
    const text = tickNanoseconds(ns, step);
    if (fits(x + 3, text, frame.left + plotWidth + 6)) {
      painter.text(x + 3, bottom + AXIS_LINE * 1.5 + 2, text, paper("faint"), { size: 10 });
    }
  }
}

/** Pixels. */
const LINE_WIDTH = 1.5;
/** Up to this width a column is drawn in one piece with the jump to it. */
const NARROW = 3;

export interface CurveParts {
  bins: Bins[];
  /** Number of the series in the tiles of `bins`. */
  series: number;
  /** #rrggbb */
  colour: string;
}

/**
 * One series: first the band of all its values, then the line of its means. Rectangles on whole pixels, because paths of
 * thousands of corners take far longer to draw.
 */
export function paintCurve(painter: Painter, frame: ChartFrame, { bins, series, colour }: CurveParts): void {
  const band: number[] = [];
  const line: number[] = [];
  let lastY = Number.NaN;
  for (const { x, width, mean, low, high, isFirst } of columnsOf(frame, bins, series)) {
    const y = frame.y(mean);
    const [yLow, yHigh] = [Math.round(frame.y(low)), Math.round(frame.y(high))];
    if (yLow > yHigh) band.push(x, yHigh, width, yLow - yHigh);
    const jump = isFirst ? 0 : Math.abs(y - lastY);
    const top = jump ? Math.min(y, lastY) : y;
    if (width <= NARROW) line.push(x, top - LINE_WIDTH / 2, width, jump + LINE_WIDTH);
    else {
      line.push(x, y - LINE_WIDTH / 2, width, LINE_WIDTH);
      if (jump > 0.5) line.push(x - LINE_WIDTH / 2, top - LINE_WIDTH / 2, LINE_WIDTH, jump + LINE_WIDTH);
    }
    lastY = y;
  }
  if (band.length) painter.rects(band, `${colour}40`); // a quarter opaque
  if (line.length) painter.rects(line, colour);
}

/** Whole pixels of a chart in which a curve has one value. */
export interface CurveColumn {
  x: number;
  width: number;
  mean: number;
  low: number;
  high: number;
  /** Whether nothing stands directly before it: it is the first, or there is a gap. */
  isFirst: boolean;
}

/**
 * The values of a series on whole pixels, from left to right. Bins that share a pixel are joined, so that no spike is
 * lost; equal neighbours too.
 */
export function* columnsOf(frame: ChartFrame, bins: Bins[], series: number): Generator<CurveColumn> {
  let column: CurveColumn | null = null;
  let columnEnd = Number.NaN; // the pixel after it; the same as its x while its bins share that pixel with the next one
  let joinedCount = 0;
  let lastBinEnd = Number.NaN;
  for (const { tile, begin, width, first, last } of bins) {
    const offset = series * tile.count;
    for (let i = first; i < last; i++) {
      const mean = tile.mean[offset + i] as number;
      const low = tile.low[offset + i] as number;
      const high = tile.high[offset + i] as number;
      const binBegin = begin + i * width;
      const hasValue = !Number.isNaN(mean);
      if (column && (binBegin !== lastBinEnd || !hasValue)) {
        yield column;
        column = null;
      }
      lastBinEnd = binBegin + width;
      if (!hasValue) continue;
      if (column && columnEnd === column.x) {
        joinedCount += 1;
        column.mean += (mean - column.mean) / joinedCount;
        column.low = Math.min(column.low, low);
        column.high = Math.max(column.high, high);
      } else if (!column || column.mean !== mean || column.low !== low || column.high !== high) {
        if (column) yield column;
        const x: number = column ? columnEnd : Math.round(frame.x(binBegin));
        column = { x, width: 1, mean, low, high, isFirst: column === null };
        joinedCount = 1;
      }
      columnEnd = Math.max(Math.round(frame.x(lastBinEnd)), column.x);
      column.width = Math.max(1, columnEnd - column.x);
    }
  }
  if (column) yield column;
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

/** A vertical line at a time: dotted for the pointer, solid for a mark that stays. */
export function paintLine(
  painter: Painter,
  frame: ChartFrame,
  line: { time: number; colour: string; isDotted?: boolean },
) {
  const x = Math.round(frame.x(line.time)) + 0.5;
  painter.polyline([x, frame.top, x, frame.bottom], line.colour, 1.2, line.isDotted ? [2, 3] : []);
}

export interface LegendEntry {
  label: string;
  colour: string;
}

/** Pixels of a row of the legend. */
const LEGEND_ROW = 16;

/** Where the entries of a legend stand: from left to right, and on in the next row where one does not fit. */
function legendPlaces(entries: LegendEntry[], width: number) {
  let [x, row] = [GUTTER, 0];
  return entries.map((entry) => {
    const entryWidth = Math.min(entry.label.length * letterWidth() + 26, width - GUTTER);
    if (x + entryWidth > width && x > GUTTER) [x, row] = [GUTTER, row + 1];
    const place = { ...entry, x, row, width: entryWidth };
    x += entryWidth;
    return place;
  });
}

/** The legend of a saved picture, in rows from `y` on, below the chart. */
export function paintLegend(painter: Painter, entries: LegendEntry[], y: number, width: number): void {
  for (const { label, colour, x, row, width: entryWidth } of legendPlaces(entries, width)) {
    const top = y + row * LEGEND_ROW;
    painter.rect(x, top + 3, 10, 10, colour);
    painter.text(x + 14, top + 8, label, paper("text"), { maxWidth: entryWidth - 14 });
  }
}

export function legendHeight(entries: LegendEntry[], width: number): number {
  const lastRow = legendPlaces(entries, width).at(-1)?.row ?? 0;
  return (lastRow + 1) * LEGEND_ROW + 6;
}
