// A ring of shares.
import type { Painter } from "./painter";
import { paper } from "./palette";

export interface RingPart {
  label: string;
  share: number;
  colour: string;
}

const CORNERS = 180;

/** From the top, clockwise; `words` stand in the middle. */
export function paintRing(
  painter: Painter,
  width: number,
  height: number,
  parts: RingPart[],
  words: [string, string],
): void {
  const outer = Math.max(4, Math.min(width, height) / 2 - 4);
  const inner = outer * 0.62;
  const [x, y] = [width / 2, height / 2];
  let from = 0;
  for (const { share, colour } of parts) {
    const to = from + Math.max(0, share);
    painter.polygon(slice(x, y, inner, outer, from, to), colour);
    from = to;
  }
  painter.text(x, y - 8, words[0], paper("text"), { align: "center", size: 17, bold: true });
  painter.text(x, y + 11, words[1], paper("faint"), { align: "center" });
}

function slice(x: number, y: number, inner: number, outer: number, from: number, to: number): number[] {
  const steps = Math.max(1, Math.ceil((to - from) * CORNERS));
  const arc = (radius: number, at: (step: number) => number) =>
    Array.from({ length: steps + 1 }, (_, step) => {
      const angle = at(step / steps) * 2 * Math.PI;
      return [x + radius * Math.sin(angle), y - radius * Math.cos(angle)];
    }).flat();
  return [...arc(outer, (t) => from + (to - from) * t), ...arc(inner, (t) => to - (to - from) * t)];
}
