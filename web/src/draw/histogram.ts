// Stacked bars over ranges of code rows.
import { exact, short } from "../base/format";
import { GUTTER } from "./curves";
import type { Painter } from "./painter";
import { colourOf, paper } from "./palette";
import { ticks } from "./ticks";

export interface HistogramPart {
  category: string;
  cycles: number;
}

export interface HistogramBin {
  /** Code rows. */
  first: number;
  last: number;
  parts: HistogramPart[];
  total: number;
}

/** Pixels above and below the bars. */
const TOP = 8;
const BELOW = 20;
/** Least pixels between two ticks of cycles, and between two labels of rows. */
const VALUE_GAP = 34;
const LABEL_GAP = 52;

/** Where bars stand. */
export class BarFrame {
  readonly bottom: number;
  readonly step: number;

  constructor(
    readonly count: number,
    /** Cycles of the tallest bar. */
    readonly most: number,
    readonly width: number,
    readonly height: number,
  ) {
    this.bottom = Math.max(TOP + 10, height - BELOW);
    this.step = Math.max(1, width - GUTTER - 6) / Math.max(1, count);
  }

  x(bin: number): number {
    return GUTTER + bin * this.step;
  }

  y(cycles: number): number {
    return this.bottom - (cycles / this.most) * (this.bottom - TOP);
  }

  /** The bar at a place, or -1. */
  at(x: number): number {
    const bin = Math.floor((x - GUTTER) / this.step);
    return bin >= 0 && bin < this.count ? bin : -1;
  }
}

export interface Marks {
  isSelected: (bin: HistogramBin) => boolean;
  /** Number of the bin under the pointer; -1 = none. */
  hovered: number;
}

export function paintHistogram(painter: Painter, frame: BarFrame, bins: HistogramBin[], marks: Marks): void {
  const right = frame.x(frame.count);
  for (const value of ticks(0, frame.most, frame.bottom - TOP, VALUE_GAP).times) {
    const y = Math.round(frame.y(value)) + 0.5;
    painter.polyline([GUTTER, y, right, y], paper("line"), 1);
    painter.text(GUTTER - 6, y, short(value), paper("faint"), { align: "right" });
  }
  const gap = frame.step > 6 ? 1 : 0;
  painter.clipped(GUTTER, TOP, right - GUTTER, frame.bottom - TOP + 1, () => {
    bins.forEach((bin, number) => {
      const x = frame.x(number);
      if (marks.isSelected(bin)) painter.rect(x, TOP, frame.step, frame.bottom - TOP, paper("selected"));
      else if (number === marks.hovered) painter.rect(x, TOP, frame.step, frame.bottom - TOP, paper("preview"));
      let below = 0;
      for (const { category, cycles } of bin.parts) {
        const [low, high] = [frame.y(below), frame.y(below + cycles)];
        painter.rect(x + gap, high, frame.step - 2 * gap, low - high, colourOf(category));
        below += cycles;
      }
    });
  });
  const every = Math.max(1, Math.ceil(LABEL_GAP / frame.step));
  bins.forEach((bin, number) => {
    if (number % every) return;
    painter.polyline([frame.x(number), frame.bottom, frame.x(number), frame.bottom + 4], paper("faint"), 1);
    painter.text(frame.x(number) + 2, frame.bottom + 11, exact(bin.first), paper("faint"));
  });
  painter.text(4, frame.bottom + 11, "row", paper("faint"), { size: 10 });
  painter.polyline([GUTTER + 0.5, TOP, GUTTER + 0.5, frame.bottom + 0.5, right, frame.bottom + 0.5], paper("faint"), 1);
}
