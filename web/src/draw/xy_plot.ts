// Plots of two columns of any table: a line, points, bars or a histogram, with round numbers on both axes.
import { short } from "../base/format";
import { tickValue, valueRange } from "./curves";
import { letterWidth, type Painter } from "./painter";
import { paper } from "./palette";
import { ticks } from "./ticks";

export type PlotKind = "line" | "scatter" | "bar" | "histogram";

export interface PlotData {
  kind: PlotKind;
  /** Numbers, or texts for bars; as many as `y`. */
  x: (number | string)[];
  y: number[];
  xName: string;
  yName: string;
}

/** Pixels around the plot, and of a point. */
const [LEFT, RIGHT, TOP, BELOW] = [74, 12, 20, 34];
const POINT = 3;
/** Bars of further rows are left out, which the axis says. */
const MOST_BARS = 400;

export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** Equal bins over all values; one bin where all are equal. */
export function binned(values: number[], count: number): Bin[] {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return [];
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  if (low === high) return [{ from: low, to: high, count: finite.length }];
  const width = (high - low) / count;
  const bins = Array.from({ length: count }, (_, n) => ({
    from: low + n * width,
    to: low + (n + 1) * width,
    count: 0,
  }));
  for (const value of finite) {
    const bin = bins[Math.min(count - 1, Math.floor((value - low) / width))];
    if (bin) bin.count += 1;
  }
  return bins;
}

export function paintPlot(
  painter: Painter,
  size: { width: number; height: number },
  data: PlotData,
  colour: string,
): void {
  const box = {
    x: LEFT,
    y: TOP,
    width: Math.max(1, size.width - LEFT - RIGHT),
    height: Math.max(1, size.height - TOP - BELOW),
  };
  if (data.kind === "histogram") paintBins(painter, box, data, colour);
  else if (data.kind === "bar") paintNamedBars(painter, box, data, colour);
  else paintPoints(painter, box, data, colour);
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Extent {
  low: number;
  high: number;
}

function extent(values: ArrayLike<number>): Extent {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let n = 0; n < values.length; n++) {
    const value = values[n] as number;
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return { low, high };
}

/** The axis at the left with its grid lines; gives the y of a value. */
function paintValueAxis(painter: Painter, box: Box, range: Extent, name: string): (value: number) => number {
  const y = (value: number) => box.y + box.height - ((value - range.low) / (range.high - range.low)) * box.height;
  const rows = ticks(range.low, range.high, box.height, 30);
  for (const value of rows.times) {
    const at = Math.round(y(value)) + 0.5;
    painter.polyline([box.x, at, box.x + box.width, at], paper("line"), 1);
    painter.text(box.x - 6, at, tickValue(value, rows.step, range), paper("faint"), { align: "right" });
  }
  painter.text(8, 9, name, paper("text"), { maxWidth: box.x + box.width - 16 });
  painter.polyline([box.x, box.y, box.x, box.y + box.height, box.x + box.width, box.y + box.height], paper("faint"), 1);
  return y;
}

/** The axis below; gives the x of a value. */
function paintAxisBelow(painter: Painter, box: Box, range: Extent, name: string): (value: number) => number {
  const x = (value: number) => box.x + ((value - range.low) / (range.high - range.low)) * box.width;
  const columns = ticks(range.low, range.high, box.width, 96);
  for (const value of columns.times) {
    const at = Math.round(x(value)) + 0.5;
    const text = tickValue(value, columns.step, range);
    painter.polyline([at, box.y + box.height, at, box.y + box.height + 4], paper("faint"), 1);
    if (at + (text.length * letterWidth()) / 2 < box.x + box.width + RIGHT) {
      painter.text(at, box.y + box.height + 12, text, paper("faint"), { align: "center" });
    }
  }
  painter.text(box.x + box.width / 2, box.y + box.height + 26, name, paper("text"), {
    align: "center",
    maxWidth: box.width,
  });
  return x;
}

function paintPoints(painter: Painter, box: Box, data: PlotData, colour: string): void {
  const { low, high } = extent(data.y);
  const startsAtZero = data.kind === "line" && low >= 0;
  const y = paintValueAxis(painter, box, valueRange(low, high, startsAtZero), data.yName);
  const numbers = data.x.map(Number);
  const x = paintAxisBelow(painter, box, widened(extent(numbers)), data.xName);
  const points = data.y.map((value, n): Point | null => {
    const at = numbers[n] as number;
    return Number.isFinite(value) && Number.isFinite(at) ? { x: x(at), y: y(value) } : null;
  });
  painter.clipped(box.x, box.y, box.width + RIGHT, box.height + 1, () => {
    if (data.kind === "line") paintLines(painter, points, colour);
    else {
      const known = points.filter((point) => point !== null);
      painter.rects(
        known.flatMap((point) => [point.x - POINT / 2, point.y - POINT / 2, POINT, POINT]),
        colour,
      );
    }
  });
}

interface Point {
  x: number;
  y: number;
}

/** A line through points that follow each other; a missing one (null) interrupts it, and one alone is a square. */
function paintLines(painter: Painter, points: (Point | null)[], colour: string): void {
  let line: number[] = [];
  const finish = () => {
    if (line.length > 2) painter.polyline(line, colour, 1.5);
    else if (line.length) painter.rect((line[0] as number) - 1, (line[1] as number) - 1, 3, 3, colour);
    line = [];
  };
  for (const point of points) {
    if (point) line.push(point.x, point.y);
    else finish();
  }
  finish();
}

/** A range that is not empty, also of one value or of none. */
function widened({ low, high }: Extent): Extent {
  return high > low ? { low, high } : { low: (low || 0) - 0.5, high: (low || 0) + 0.5 };
}

function paintNamedBars(painter: Painter, box: Box, data: PlotData, colour: string): void {
  const shown = data.y.slice(0, MOST_BARS);
  const { low, high } = extent(shown);
  const range = valueRange(Math.min(0, low), Math.max(0, high), true);
  const y = paintValueAxis(painter, box, range, data.yName);
  const wide = box.width / Math.max(1, shown.length);
  const every = Math.max(1, Math.ceil(70 / wide));
  const zero = y(0);
  painter.rects(
    shown.flatMap((value, n) => {
      if (!Number.isFinite(value)) return [];
      const top = Math.min(y(value), zero);
      return [box.x + n * wide + 0.5, top, Math.max(1, wide - 1), Math.max(1, Math.abs(zero - y(value)))];
    }),
    colour,
  );
  shown.forEach((_, n) => {
    if (n % every) return;
    const text = data.x[n];
    painter.text(
      box.x + n * wide,
      box.y + box.height + 12,
      typeof text === "number" ? short(text) : String(text ?? ""),
      paper("faint"),
      { size: 10, maxWidth: wide * every - 4 },
    );
  });
  const cut = data.y.length > MOST_BARS ? `, the first ${MOST_BARS} of ${data.y.length} rows` : "";
  painter.text(box.x + box.width / 2, box.y + box.height + 26, data.xName + cut, paper("text"), {
    align: "center",
    maxWidth: box.width,
  });
}

function paintBins(painter: Painter, box: Box, data: PlotData, colour: string): void {
  const bins = binned(data.y, Math.max(1, Math.min(60, Math.floor(box.width / 12))));
  const first = bins[0];
  const last = bins.at(-1);
  if (!first || !last) return;
  const most = bins.reduce((sum, bin) => Math.max(sum, bin.count), 0);
  const y = paintValueAxis(painter, box, valueRange(0, most, true), "rows");
  const range =
    first.from < last.to ? { low: first.from, high: last.to } : { low: first.from - 0.5, high: first.from + 0.5 };
  const x = paintAxisBelow(painter, box, range, data.yName);
  painter.rects(
    bins.flatMap((bin) => {
      const [from, to] =
        bin.from < bin.to ? [x(bin.from), x(bin.to)] : [box.x + box.width / 2 - 6, box.x + box.width / 2 + 6];
      return bin.count ? [from + 0.5, y(bin.count), Math.max(1, to - from - 1), y(0) - y(bin.count)] : [];
    }),
    colour,
  );
}
