// Small plots with axes: bars of a histogram, and a line with the band around it.
import { nanoseconds, short } from "../base/format";
import { type Painter, textScale } from "./painter";
import { paper } from "./palette";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Pixels left of the data and below them, where the numbers stand. */
const LEFT = () => Math.ceil(80 * textScale());
const BOTTOM = 18;

/** Where the data of a plot of this size go. */
export function plotBox(size: { width: number; height: number }): Box {
  return {
    x: LEFT(),
    y: 8,
    width: Math.max(1, size.width - LEFT() - 10),
    height: Math.max(1, size.height - BOTTOM - 10),
  };
}

function axes(painter: Painter, box: Box, most: string, least: string): void {
  const bottom = box.y + box.height;
  painter.polyline([box.x, box.y, box.x, bottom, box.x + box.width, bottom], paper("line"), 1);
  painter.text(box.x - 5, box.y + 5, most, paper("faint"), { align: "right", maxWidth: LEFT() - 8 });
  painter.text(box.x - 5, bottom - 5, least, paper("faint"), { align: "right", maxWidth: LEFT() - 8 });
}

/** How many durations lie in a range that starts with `from` nanoseconds. */
export interface Bar {
  from: number;
  value: number;
}

/** Least pixels between two labels of bars. */
const LABEL_GAP = 74;

/** Counts per range of durations, the ranges side by side; labels say where some of them begin. */
export function paintBars(painter: Painter, box: Box, bars: Bar[], colour: string): void {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  axes(painter, box, short(most), "0");
  const wide = box.width / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(LABEL_GAP / wide));
  bars.forEach((bar, n) => {
    const tall = bar.value ? Math.max(1, (bar.value / most) * box.height) : 0;
    const x = box.x + n * wide;
    painter.rect(x + 0.5, box.y + box.height - tall, Math.max(1, wide - 1), tall, colour);
    if (n % every === 0) {
      const style = { size: 10, maxWidth: wide * every - 4 };
      painter.text(x, box.y + box.height + 10, nanoseconds(bar.from), paper("faint"), style);
    }
  });
}

export interface Interval {
  begin: number;
  end: number;
  mean: number;
  low: number;
  high: number;
}

/** Means of intervals as steps, the smallest and the largest as a band behind them. */
export function paintSteps(
  painter: Painter,
  box: Box,
  intervals: Interval[],
  time: { begin: number; end: number },
  colour: string,
): void {
  const most = Math.max(1, ...intervals.map((interval) => interval.high));
  axes(painter, box, nanoseconds(most), "0");
  const scale = box.width / Math.max(time.end - time.begin, 1);
  const x = (at: number) => box.x + (at - time.begin) * scale;
  const y = (value: number) => box.y + box.height - (value / most) * box.height;
  painter.clipped(box.x, box.y, box.width, box.height + 1, () => {
    for (const interval of intervals) {
      const [left, wide] = [x(interval.begin), Math.max(1, (interval.end - interval.begin) * scale)];
      painter.rect(left, y(interval.high), wide, Math.max(1, y(interval.low) - y(interval.high)), paper("preview"));
      painter.rect(left, y(interval.mean) - 1, wide, 2, colour);
    }
  });
  const bottom = box.y + box.height + 10;
  painter.text(box.x, bottom, nanoseconds(time.begin), paper("faint"), { size: 10 });
  painter.text(box.x + box.width, bottom, nanoseconds(time.end), paper("faint"), { size: 10, align: "right" });
}
