// Roofs as lines, kernels as marks: the shape tells the level of memory, the colour the kernel.
import { rate } from "../../base/format";
import type { CounterRooflineCeilingsRow } from "../../data/answers.gen";
import { type LogFrame, paintLogAxes } from "../../draw/loglog";
import { paintMark, SHAPES, type Shape } from "../../draw/marks";
import { letterWidth, type Painter, textScale } from "../../draw/painter";
import { mixed, paper, seriesColour } from "../../draw/palette";
import type { Work } from "./ceilings";
import type { Roof, Scene } from "./scene";

export const LEVELS = ["HBM", "L2", "L1", "LDS", "MALL"];

export function shapeOf(level: string): Shape {
  return SHAPES[Math.max(0, LEVELS.indexOf(level))] ?? "circle";
}

export interface Highlight {
  /** Rank of the chosen kernel; null = none is. */
  chosen: number | null;
  hovered: number | null;
}

/** Wider where more of the time goes. */
export function radiusOf(share: number | null): number {
  return (4 + 8 * Math.sqrt(Math.min(Math.max(share ?? 0, 0), 1))) * textScale();
}

export function roofText({ name, used, unit, used_from: from }: CounterRooflineCeilingsRow): string {
  return `${name} ${rate(used ?? 0, unit)}${from === "empirical" ? ", measured" : ""}`;
}

export function paintRoofline(
  painter: Painter,
  frame: LogFrame,
  scene: Scene,
  shares: Map<number, number | null>,
  highlight: Highlight,
  work: Work,
): void {
  const unit = work === "flop" ? "FLOP" : "IOP";
  // The roofs are named in tera where they are that high, so the numbers beside them are, too.
  const [prefix, unitY] = frame.window.top > 3 ? ["T", 1000] : ["G", 1];
  paintLogAxes(painter, frame, { x: `${unit} per byte`, y: `${prefix}${unit}/s` }, unitY);
  painter.clipped(frame.x0, frame.y0, frame.plotWidth, frame.plotHeight + 1, () => {
    for (const roof of scene.roofs) paintRoof(painter, frame, roof);
    const marks = scene.marks.map((mark) => ({ x: frame.x(mark.intensity), y: frame.y(mark.gops_per_second) }));
    paintLabels(painter, frame, scene.roofs, marks);
    const isHighlighted = (kernel: number) =>
      highlight.chosen === null || kernel === highlight.chosen || kernel === highlight.hovered;
    const faintFirst = [...scene.marks].sort(
      (a, b) => Number(isHighlighted(a.kernel)) - Number(isHighlighted(b.kernel)),
    );
    for (const mark of faintFirst) {
      const colour = seriesColour(mark.kernel);
      const fill = isHighlighted(mark.kernel) ? colour : mixed(colour, paper("background"), 0.75);
      const edge =
        mark.kernel === highlight.hovered || mark.kernel === highlight.chosen ? paper("text") : paper("background");
      const [x, y] = [frame.x(mark.intensity), frame.y(mark.gops_per_second)];
      paintMark(painter, shapeOf(mark.level), x, y, radiusOf(shares.get(mark.kernel) ?? null), fill, edge);
    }
  });
}

function paintRoof(painter: Painter, frame: LogFrame, { ceiling, from, to }: Roof): void {
  const points = [frame.x(from[0]), frame.y(from[1]), frame.x(to[0]), frame.y(to[1])];
  painter.polyline(points, paper("text"), 1.5, ceiling.used_from === "empirical" ? [] : [6, 4]);
}

interface Spot {
  x: number;
  y: number;
}

/** Slopes are named on their lower side, as near to where they come in as no mark and no other name is; level roofs at their right ends. */
function paintLabels(painter: Painter, frame: LogFrame, roofs: Roof[], marks: Spot[]): void {
  const line = 15 * textScale();
  const slopes = roofs.filter((roof) => roof.ceiling.kind === "bandwidth");
  slopes.sort((a, b) => (b.ceiling.used ?? 0) - (a.ceiling.used ?? 0));
  const bottom = frame.y0 + frame.plotHeight - line / 2;
  const taken: Spot[] = [];
  for (const { ceiling } of slopes) {
    const rate = ceiling.used ?? 1;
    const text = roofText(ceiling);
    const wide = text.length * letterWidth();
    const entry = Math.min(frame.y(10 ** frame.window.left * rate) + line * 0.7, bottom);
    const at = (y: number) => ({ x: Math.max(frame.x(10 ** (frame.at(0, y).y - Math.log10(rate))), frame.x0) + 6, y });
    const isFree = ({ x, y }: Spot) =>
      y >= frame.y0 + line &&
      !marks.some((mark) => Math.abs(mark.y - y) < line && mark.x > x - line && mark.x < x + wide + line) &&
      !taken.some((other) => Math.abs(other.y - y) < line);
    const places = Array.from({ length: 24 }, (_, n) => at(entry - (n * line) / 2));
    const place = places.find(isFree) ?? at(entry);
    label(painter, place.x, place.y, text, "left");
    taken.push(place);
  }
  const right = frame.x0 + frame.plotWidth - 4;
  let above = Number.NEGATIVE_INFINITY;
  let shift = 0;
  const levels = roofs.filter((roof) => roof.ceiling.kind === "compute");
  for (const { ceiling } of levels.sort((a, b) => (b.ceiling.used ?? 0) - (a.ceiling.used ?? 0))) {
    const y = frame.y(ceiling.used ?? 1) - 9 * textScale();
    const text = roofText(ceiling);
    shift = y - above < line ? shift : 0; // lines that lie close together have their names side by side
    label(painter, right - shift, y, text, "right");
    shift += text.length * letterWidth() + 24;
    above = y;
  }
}

function label(painter: Painter, x: number, y: number, text: string, align: "left" | "right"): void {
  const wide = text.length * letterWidth() + 4;
  const tall = 14 * textScale();
  painter.rect(align === "left" ? x - 2 : x - wide + 2, y - tall / 2, wide, tall, paper("background"));
  painter.text(x, y, text, paper("text"), { align });
}
