// Curves that are parts of a whole, on top of each other, and many curves, each in a strip of its own.
import type { Bins } from "../model/curves";
import { type ChartFrame, columnsOf } from "./curves";
import type { Painter } from "./painter";
import { paper } from "./palette";

/** How the curves of a chart stand to each other. */
export type Shape = "lines" | "stacked" | "strips";
export const SHAPES: Record<Shape, string> = {
  lines: "One line per curve, with the band of its values",
  stacked: "On top of each other: the upper edge is their sum",
  strips: "A strip per curve, all with the same scale",
};

/** The largest sum of the means of some series in one bin. */
export function largestSum(parts: Pick<Bins, "tile" | "first" | "last">[], series: number[]): number {
  let most = 0;
  for (const { tile, first, last } of parts) {
    for (let i = first; i < last; i++) {
      let sum = 0;
      for (const s of series) sum += (tile.mean[s * tile.count + i] as number) || 0;
      most = Math.max(most, sum);
    }
  }
  return most;
}

/** Some series of tiles, in the order in which they stand. */
export interface SeriesParts {
  bins: Bins[];
  series: number[];
  /** #rrggbb of a series. */
  colourOf: (series: number) => string;
}

/** The first series at the bottom; what has no value counts as none. */
export function paintStack(painter: Painter, frame: ChartFrame, { bins, series, colourOf }: SeriesParts): void {
  const areas = series.map((): number[] => []); // rectangles of each series: one path per colour draws fast
  for (const { tile, begin, width, first, last } of bins) {
    for (let i = first; i < last; i++) {
      const x = Math.round(frame.x(begin + i * width));
      const columnWidth = Math.round(frame.x(begin + (i + 1) * width)) - x;
      if (columnWidth <= 0) continue;
      let sum = 0;
      series.forEach((s, place) => {
        const value = (tile.mean[s * tile.count + i] as number) || 0; // NaN = no value
        const bottom = frame.y(sum);
        sum += value;
        if (value > 0) areas[place]?.push(x, frame.y(sum), columnWidth, bottom - frame.y(sum));
      });
    }
  }
  areas.forEach((area, place) => {
    if (area.length) painter.rects(area, colourOf(series[place] as number));
  });
}

/** Every series as an area in its strip; all strips have the scale of the frame. */
export function paintStrips(painter: Painter, frame: ChartFrame, { bins, series, colourOf }: SeriesParts): void {
  const stripHeight = frame.plotHeight / Math.max(1, series.length);
  series.forEach((number, place) => {
    const bottom = frame.top + (place + 1) * stripHeight;
    const height = Math.max(1, stripHeight - 1);
    const area: number[] = [];
    for (const { x, width, mean } of columnsOf(frame, bins, number)) {
      const share = Math.min(1, Math.max(0, mean / frame.values.high));
      if (share > 0) area.push(x, bottom - share * height, width, share * height);
    }
    if (area.length) painter.rects(area, colourOf(number));
    painter.rect(frame.left, bottom - 0.5, frame.plotWidth, 0.5, paper("line"));
  });
}

/** The least height of a name, in pixels. */
const LABEL = 9;

/** The names of strips at their left; of thin ones every few. */
export function paintStripNames(painter: Painter, frame: ChartFrame, labels: string[]): void {
  const tall = frame.plotHeight / Math.max(1, labels.length);
  const size = Math.min(11, Math.max(LABEL, tall));
  labels.forEach((label, place) => {
    if (place % Math.ceil(LABEL / tall)) return;
    const y = frame.top + (place + 0.5) * tall;
    painter.text(frame.left - 5, y, label, paper("faint"), { align: "right", size, maxWidth: frame.left - 8 });
  });
}
