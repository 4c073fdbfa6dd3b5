// A ring of shares.
import type { Painter } from "./painter";
import { paper } from "./palette";

export interface RingPart {
  label: string;
  share: number;
  colour: string;
}

/** Corners of the polygon that a whole turn is drawn as. */
const CORNERS = 180;

interface Ring {
  parts: RingPart[];
  /** Two lines in the middle: a figure, and what it is. */
  words: [figure: string, name: string];
}

/** The radius of the hole, as a share of that of the ring. */
const HOLE = 0.62;

/** From the top, clockwise. */
export function paintRing(
  painter: Painter,
  { width, height }: { width: number; height: number },
  { parts, words }: Ring,
): void {
  const outer = Math.max(4, Math.min(width, height) / 2 - 4);
  const centre = { x: width / 2, y: height / 2 };
  let from = 0;
  for (const { share, colour } of parts) {
    const to = from + Math.max(0, share);
    painter.polygon(slice(centre, { inner: outer * HOLE, outer }, from, to), colour);
    from = to;
  }
  painter.text(centre.x, centre.y - 8, words[0], paper("text"), { align: "center", size: 17, bold: true });
  painter.text(centre.x, centre.y + 11, words[1], paper("faint"), { align: "center" });
}

/** The outline of a part of the ring between two shares of the whole turn, as x0, y0, x1, y1, … */
function slice(
  { x, y }: { x: number; y: number },
  { inner, outer }: { inner: number; outer: number },
  from: number,
  to: number,
): number[] {
  const steps = Math.max(1, Math.ceil((to - from) * CORNERS));
  const arc = (radius: number, start: number, end: number) =>
    Array.from({ length: steps + 1 }, (_, step) => {
      const angle = (start + ((end - start) * step) / steps) * 2 * Math.PI;
      return [x + radius * Math.sin(angle), y - radius * Math.cos(angle)];
    }).flat();
  return [...arc(outer, from, to), ...arc(inner, to, from)];
}
