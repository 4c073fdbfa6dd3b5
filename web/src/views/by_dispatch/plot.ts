// The plot of a metric over the dispatches: where values stand, how they are painted, and which one a pointer is near.
import { exact } from "../../base/format";
import { tickValue } from "../../draw/curves";
import { paintMark } from "../../draw/marks";
import { type Painter, textScale } from "../../draw/painter";
import { paper, seriesColour } from "../../draw/palette";
import { tickNanoseconds, ticks } from "../../draw/ticks";
import type { Size } from "../../widgets/canvas";
import { type DispatchValue, rangeOf } from "./series";

/** Pixels around the plot: for the values of the axis, for the numbers of dispatches, and at the top. */
const LEFT = () => 70 * textScale();
const BELOW = () => 22 * textScale();
const TOP = 10;
/** A mark within so many pixels of the pointer is meant. */
const NEAR = 12;
/** Beyond so many marks they are smaller. */
const MANY_MARKS = 400;

/** Dispatches stand from left to right by their number in the capture, values from below. */
export class PlotFrame {
  readonly range: { low: number; high: number };
  /** The largest number of a dispatch, at least 1. */
  readonly last: number;

  constructor(
    readonly values: DispatchValue[],
    readonly size: Size,
  ) {
    this.range = rangeOf(values);
    this.last = Math.max(1, ...values.map((point) => point.dispatch));
  }

  x(dispatch: number): number {
    return LEFT() + 8 + (dispatch / this.last) * (this.size.width - LEFT() - 24);
  }

  y(value: number): number {
    const { low, high } = this.range;
    return TOP + (1 - (value - low) / (high - low)) * (this.size.height - TOP - BELOW());
  }
}

export interface PlacedValue {
  point: DispatchValue;
  x: number;
  y: number;
}

/** The value whose mark is nearest to a pixel; null = none is near. */
export function nearestValue(frame: PlotFrame, x: number, y: number): PlacedValue | null {
  let best: PlacedValue | null = null;
  let least = NEAR;
  for (const point of frame.values) {
    const place = { x: frame.x(point.dispatch), y: frame.y(point.value) };
    const distance = Math.hypot(place.x - x, place.y - y);
    if (distance >= least) continue;
    least = distance;
    best = { point, ...place };
  }
  return best;
}

export function paintDispatchPlot(painter: Painter, frame: PlotFrame, unit: string): void {
  paintAxes(painter, frame, unit);
  const radius = (frame.values.length > MANY_MARKS ? 2.5 : 4) * textScale();
  for (const { dispatch, value, kernel, isOutlier } of frame.values) {
    const colour = seriesColour(kernel);
    const [x, y] = [frame.x(dispatch), frame.y(value)];
    if (isOutlier) {
      paintMark(painter, { shape: "diamond", x, y, radius: radius * 1.5, fill: colour, edge: paper("text") });
    } else paintMark(painter, { shape: "circle", x, y, radius, fill: colour, edge: colour });
  }
}

function paintAxes(painter: Painter, frame: PlotFrame, unit: string): void {
  const { range, last } = frame;
  const { width, height } = frame.size;
  const rows = ticks(range.low, range.high, height - TOP - BELOW(), 34);
  for (const value of rows.times) {
    const y = Math.round(frame.y(value)) + 0.5;
    painter.polyline([LEFT(), y, width - 6, y], paper("line"), 1);
    const text = unit === "ns" ? tickNanoseconds(value, rows.step) : tickValue(value, rows.step, range);
    painter.text(LEFT() - 6, y, text, paper("faint"), { align: "right" });
  }
  for (const dispatch of ticks(0, last, width - LEFT(), 90, { leastStep: 1 }).times) {
    painter.text(frame.x(dispatch), height - BELOW() / 2, exact(dispatch), paper("faint"), { align: "center" });
  }
  if (unit !== "ns") painter.text(LEFT() + 4, TOP + 2, unit, paper("faint"), { size: 10 });
  painter.text(4, height - BELOW() / 2, "dispatch", paper("faint"), { size: 10 });
}
