// A chart of step curves: axes, the band between smallest and largest value, the mean, marks in time.
import { exact, short } from "../base/format";
import type { Bins } from "../model/curves";
import type { Range } from "../model/selection";
import type { Painter } from "./painter";
import { paper } from "./palette";
import { tickNanoseconds, ticks } from "./ticks";

export const GUTTER = 58;
const TOP = 8;
const LINE = 15;

export interface ValueRange {
  low: number;
  high: number;
}

/** Where time and values stand on a chart. */
export class ChartFrame {
  readonly left = GUTTER;
  readonly top = TOP;
  readonly bottom: number;
  readonly plotWidth: number;
  readonly plotHeight: number;

  constructor(
    readonly window: Range,
    readonly values: ValueRange,
    readonly width: number,
    height: number,
    readonly clockMhz: number | null,
    /** Of times. */
    readonly unit: "cycles" | "ns" = "cycles",
  ) {
    this.bottom = Math.max(TOP + 10, height - (clockMhz ? 2 * LINE : LINE) - 4);
    this.plotWidth = Math.max(1, width - GUTTER - 6);
    this.plotHeight = this.bottom - TOP;
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
  const margin = (high - from) * 0.06 || Math.abs(high) * 0.1 || 1;
  return { low: fromZero && low >= 0 ? 0 : from - margin, high: high + margin };
}

export function paintAxes(painter: Painter, frame: ChartFrame, origin: number, unit: string): void {
  const { left, top, bottom, plotWidth, values, window } = frame;
  const rows = ticks(values.low, values.high, frame.plotHeight, 34);
  for (const value of rows.times) {
    const y = Math.round(frame.y(value)) + 0.5;
    painter.polyline([left, y, left + plotWidth, y], paper("line"), 1);
    painter.text(left - 6, y, short(Number(value.toPrecision(12))), paper("faint"), { align: "right" });
  }
  const columns = ticks(window.begin, window.end, plotWidth, 92, 0, 1);
  painter.clipped(left - 1, top, plotWidth + 2, frame.bottom - top + 40, () => {
    for (const time of columns.times) {
      const x = Math.round(frame.x(time)) + 0.5;
      painter.polyline([x, bottom, x, bottom + 4], paper("faint"), 1);
      const text = frame.unit === "ns" ? tickNanoseconds(time, columns.step) : exact(time);
      painter.text(x + 3, bottom + LINE / 2 + 2, text, paper("faint"));
    }
    if (!frame.clockMhz) return;
    const perCycle = 1e3 / frame.clockMhz;
    const marks = ticks((window.begin - origin) * perCycle, (window.end - origin) * perCycle, plotWidth, 92);
    for (const time of marks.times) {
      const x = frame.x(origin + time / perCycle);
      painter.text(x + 3, bottom + LINE * 1.5 + 2, tickNanoseconds(time, marks.step), paper("faint"), { size: 10 });
    }
  });
  painter.text(4, bottom + LINE / 2 + 2, frame.unit === "ns" ? "time" : "cycles", paper("faint"), { size: 10 });
  if (frame.clockMhz) painter.text(4, bottom + LINE * 1.5 + 2, "time", paper("faint"), { size: 10 });
  if (unit) painter.text(left + 5, top + 7, unit, paper("faint"), { size: 10 });
  painter.polyline([left + 0.5, top, left + 0.5, bottom + 0.5, left + plotWidth, bottom + 0.5], paper("faint"), 1);
}

/** One series: first the band of all its values, then the line of its means. */
export function paintCurve(painter: Painter, frame: ChartFrame, parts: Bins[], series: number, colour: string): void {
  for (const run of runsOf(parts, series)) {
    const upper: number[] = [];
    const lower: number[] = [];
    const line: number[] = [];
    let isBand = false;
    for (const { begin, end, mean, low, high } of run) {
      const [from, to] = [frame.x(begin), frame.x(end)];
      const y = frame.y(mean);
      const [yLow, yHigh] = [frame.y(low), frame.y(high)];
      isBand ||= yLow - yHigh > 0.5;
      upper.push(from, yHigh, to, yHigh);
      lower.push(yLow, from, yLow, to); // read backwards below
      line.push(from, y, to, y);
    }
    if (isBand) painter.polygon([...upper, ...lower.reverse()], `${colour}40`);
    painter.polyline(line, colour, 1.5);
  }
}

interface Step {
  begin: number;
  end: number;
  mean: number;
  low: number;
  high: number;
}

/** Stretches without gaps. */
export function runsOf(parts: Bins[], series: number): Step[][] {
  const runs: Step[][] = [];
  let run: Step[] = [];
  let at = Number.NaN;
  for (const { tile, begin, width, first, last } of parts) {
    for (let i = first; i < last; i++) {
      const place = series * tile.count + i;
      const mean = tile.mean[place] as number;
      const from = begin + i * width;
      if (Number.isNaN(mean) || from !== at) {
        if (run.length) runs.push(run);
        run = [];
      }
      at = from + width;
      if (Number.isNaN(mean)) continue;
      run.push({ begin: from, end: at, mean, low: tile.low[place] as number, high: tile.high[place] as number });
    }
  }
  if (run.length) runs.push(run);
  return runs;
}

export function paintBand(painter: Painter, frame: ChartFrame, range: Range, colour: string): void {
  const from = frame.x(range.begin);
  const to = Math.max(frame.x(range.end), from + 1);
  painter.rect(from, frame.top, to - from, frame.plotHeight, `${colour}2e`);
  painter.polyline([from, frame.top, from, frame.bottom], colour, 1);
  painter.polyline([to, frame.top, to, frame.bottom], colour, 1);
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
    const wide = Math.min(label.length * 6.4 + 26, width - GUTTER);
    if (x + wide > width && x > GUTTER) [x, row] = [GUTTER, row + 1];
    painter.rect(x, y + row * 16 + 3, 10, 10, colour);
    painter.text(x + 14, y + row * 16 + 8, label, paper("text"), { maxWidth: wide - 14 });
    x += wide;
  }
}

export function legendHeight(entries: LegendEntry[], width: number): number {
  let [x, rows] = [GUTTER, 1];
  for (const { label } of entries) {
    const wide = Math.min(label.length * 6.4 + 26, width - GUTTER);
    if (x + wide > width && x > GUTTER) [x, rows] = [GUTTER, rows + 1];
    x += wide;
  }
  return rows * 16 + 6;
}
