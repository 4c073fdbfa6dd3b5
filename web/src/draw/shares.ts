// The busy share of pipes over time, as areas: the height of a strip is 100 %.
import type { Bins, CurveTiles } from "../model/curves";
import type { Frame } from "./frame";
import type { Painter } from "./painter";
import type { PlacedStrip, Strip } from "./track_layout";

/** What a strip shows instead of spans: some curves between 0 and 1, added up and divided by `of`. */
export interface Shares {
  tiles: CurveTiles;
  series: number[];
  of: number;
  colour: string;
  /** The part of it that is darker: curves that are 1 for a part of the same time. */
  inner?: Pick<Shares, "tiles" | "series" | "of" | "colour">;
}

/** From here on every cycle has its pixel: spans are drawn as they are. */
const BLOCKS_TIME_PER_PIXEL = 1;

/** Whether a strip is drawn as curves: then nobody needs the spans of its layer. */
export const isCurve = ({ shares, track }: Strip, timePerPixel: number): boolean =>
  shares !== undefined && (track < 0 || timePerPixel > BLOCKS_TIME_PER_PIXEL);

export function paintShares(painter: Painter, frame: Frame, strips: PlacedStrip[]): void {
  const binsOfTiles = new Map<CurveTiles, Bins[]>();
  for (const strip of strips) {
    if (!strip.shares || strip.height <= 0) continue;
    const place = { y: frame.toScreen(strip.y), height: strip.height };
    for (const shares of [strip.shares, strip.shares.inner]) {
      if (!shares) continue;
      const { tiles, colour } = shares;
      let parts = binsOfTiles.get(tiles);
      if (!parts) {
        parts = tiles.inWindow(frame.window, frame.plotWidth * frame.parts.ratio);
        binsOfTiles.set(tiles, parts);
      }
      const points = shareArea(parts, shares, place, (time) => frame.timeToX(time));
      if (points.length) painter.polygon(points, colour);
    }
  }
}

/** The outline of an area over bins that follow each other: x0, y0, x1, y1, … */
export function shareArea(
  parts: Bins[],
  { series, of }: Pick<Shares, "series" | "of">,
  { y, height }: { y: number; height: number },
  toX: (time: number) => number,
): number[] {
  const bottom = y + height;
  const points: number[] = [];
  for (const { tile, begin, width, first, last } of parts) {
    for (let i = first; i < last; i++) {
      let sum = 0;
      for (const s of series) sum += tile.mean[s * tile.count + i] as number;
      const top = bottom - (height * sum) / of;
      const from = toX(begin + i * width);
      if (!points.length) points.push(from, bottom);
      points.push(from, top, toX(begin + (i + 1) * width), top);
    }
  }
  if (points.length) points.push(points.at(-2) as number, bottom);
  return points;
}
