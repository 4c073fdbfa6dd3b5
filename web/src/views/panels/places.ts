// Where the parts of a box plot stand, in percent of its width.
import type { CounterPanelsRow } from "../../data/answers.gen";

type Values = Pick<CounterPanelsRow, "minimum" | "q1" | "median" | "q3" | "maximum">;

export interface Places {
  low: number;
  high: number;
  box: { from: number; to: number } | null;
  median: number | null;
}

/** From 0, or the smallest value where that is below, to the largest; null when nothing spreads. */
export function placed({ minimum, q1, median, q3, maximum }: Values): Places | null {
  if (minimum === null || maximum === null || maximum <= minimum) return null;
  const [from, to] = [Math.min(0, minimum), Math.max(0, maximum)];
  const percent = (value: number) => ((value - from) / (to - from)) * 100;
  return {
    low: percent(minimum),
    high: percent(maximum),
    box: q1 === null || q3 === null ? null : { from: percent(q1), to: percent(q3) },
    median: median === null ? null : percent(median),
  };
}
