// A plot whose axes are both logarithmic: where values stand, and its grid.
import { type Painter, textScale } from "./painter";
import { paper } from "./palette";

/** Exponents of ten at the edges. */
export interface LogWindow {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

const GUTTER = () => 62 * textScale();
const BELOW = () => 34 * textScale();
const ABOVE = 8;
const BESIDE = 10;
/** Decades: what is nearer or further than that cannot be told from nothing. */
const NARROWEST = 0.05;
const WIDEST = 30;

export class LogFrame {
  readonly x0 = GUTTER();
  readonly y0 = ABOVE;
  readonly plotWidth: number;
  readonly plotHeight: number;

  constructor(
    readonly window: LogWindow,
    width: number,
    height: number,
  ) {
    this.plotWidth = Math.max(1, width - this.x0 - BESIDE);
    this.plotHeight = Math.max(1, height - ABOVE - BELOW());
  }

  x(value: number): number {
    const { left, right } = this.window;
    return this.x0 + ((Math.log10(value) - left) / (right - left)) * this.plotWidth;
  }

  y(value: number): number {
    const { bottom, top } = this.window;
    return this.y0 + (1 - (Math.log10(value) - bottom) / (top - bottom)) * this.plotHeight;
  }

  /** Exponents of ten at a place. */
  at(x: number, y: number): { x: number; y: number } {
    const { left, right, bottom, top } = this.window;
    return {
      x: left + ((x - this.x0) / this.plotWidth) * (right - left),
      y: bottom + (1 - (y - this.y0) / this.plotHeight) * (top - bottom),
    };
  }

  /** The window after a zoom around a place; below 1 = nearer. */
  zoomed(factor: number, x: number, y: number): LogWindow {
    const { left, right, bottom, top } = this.window;
    const sized = Math.min(Math.max((right - left) * factor, NARROWEST), WIDEST) / (right - left);
    const at = this.at(x, y);
    return {
      left: at.x + (left - at.x) * sized,
      right: at.x + (right - at.x) * sized,
      bottom: at.y + (bottom - at.y) * sized,
      top: at.y + (top - at.y) * sized,
    };
  }

  /** The window after the plot was moved by pixels. */
  moved(dx: number, dy: number): LogWindow {
    const { left, right, bottom, top } = this.window;
    const byX = (dx / this.plotWidth) * (right - left);
    const byY = (dy / this.plotHeight) * (top - bottom);
    return { left: left - byX, right: right - byX, bottom: bottom + byY, top: top + byY };
  }
}

/** Whole decades around values, with a margin; what is not positive has no place. */
export function decades(values: number[], otherwise: [number, number]): [number, number] {
  const exponents = values.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
  if (!exponents.length) return otherwise;
  const low = Math.floor(Math.min(...exponents) - 0.15);
  return [low, Math.max(Math.ceil(Math.max(...exponents) + 0.15), low + 1)];
}

/** Values of the grid lines between two exponents: 1 to 9 times each power of ten, or only powers when there are many. */
export function gridValues(from: number, to: number): { value: number; isPower: boolean }[] {
  const ticks: { value: number; isPower: boolean }[] = [];
  const factors = to - from > 9 ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
  for (let power = Math.floor(from); power <= Math.ceil(to); power++) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      const exponent = Math.log10(value);
      if (exponent >= from - 1e-9 && exponent <= to + 1e-9) ticks.push({ value, isPower: factor === 1 });
    }
  }
  return ticks;
}

/** 0.001 -> "0.001", 1e6 -> "1M". */
export function axisText(value: number): string {
  for (const [scale, letter] of [
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (value >= scale) return `${rounded(value / scale)}${letter}`;
  }
  return value >= 1e-4 ? rounded(value) : value.toExponential(0);
}

const rounded = (value: number) => String(Number(value.toPrecision(2)));

/** Grid, numbers and titles; `unitY` is how much one unit of the title is. */
export function paintLogAxes(painter: Painter, frame: LogFrame, titles: { x: string; y: string }, unitY = 1): void {
  const { x0, y0, plotWidth, plotHeight, window } = frame;
  const [right, bottom] = [x0 + plotWidth, y0 + plotHeight];
  const scale = textScale();
  const columns = gridValues(window.left, window.right);
  const rows = gridValues(window.bottom, window.top);
  // a window inside one decade shows no power of ten: then every line has its number
  const labels = (lines: { isPower: boolean }[]) => lines.filter((line) => line.isPower).length < 2;
  const grid = (isPower: boolean) => (isPower ? paper("line") : paper("preview"));
  const [allX, allY] = [labels(columns), labels(rows)];
  for (const { value, isPower } of columns) {
    const x = Math.round(frame.x(value)) + 0.5;
    painter.polyline([x, y0, x, bottom], grid(isPower), 1);
    if (isPower || allX) painter.text(x, bottom + 10 * scale, axisText(value), paper("faint"), { align: "center" });
  }
  for (const { value, isPower } of rows) {
    const y = Math.round(frame.y(value)) + 0.5;
    painter.polyline([x0, y, right, y], grid(isPower), 1);
    if (isPower || allY) painter.text(x0 - 6, y, axisText(value / unitY), paper("faint"), { align: "right" });
  }
  painter.polyline([x0 + 0.5, y0, x0 + 0.5, bottom + 0.5, right, bottom + 0.5], paper("faint"), 1);
  painter.text(x0 + plotWidth / 2, bottom + 24 * scale, titles.x, paper("faint"), { align: "center" });
  painter.text(x0 + 6, y0 + 8, titles.y, paper("faint"));
}
