// Paints the roofline: roofs as lines, kernels as marks. The shape of a mark tells the level of memory, the colour the
// kernel, the size its share of the time.
import { rate } from "../../base/format";
import type { CounterRooflineCeilingsRow } from "../../data/answers.gen";
import { type LogFrame, paintLogAxes } from "../../draw/loglog";
import { paintMark, SHAPES, type Shape } from "../../draw/marks";
import { letterWidth, type Painter, textScale } from "../../draw/painter";
import { mixed, paper, seriesColour } from "../../draw/palette";
import type { Work } from "./ceilings";
import type { Roof, Scene } from "./scene";

/** Levels of memory in the order of legends and columns; the n-th has the n-th shape. */
export const LEVELS = ["HBM", "L2", "L1", "LDS", "MALL"];

export function shapeOf(level: string): Shape {
  return SHAPES[Math.max(0, LEVELS.indexOf(level))] ?? "circle";
}

/** What is painted, and which of it stands out. */
export interface RooflinePicture {
  scene: Scene;
  /** Kernel -> its share of the time; null = not known. */
  shares: Map<number, number | null>;
  /** Rank of the chosen kernel: marks of others are faint; null = none is chosen. */
  chosen: number | null;
  /** Rank of the kernel that the pointer is over. */
  hovered: number | null;
  work: Work;
}

/** Wider where more of the time goes. */
export function radiusOf(share: number | null): number {
  return (4 + 8 * Math.sqrt(Math.min(Math.max(share ?? 0, 0), 1))) * textScale();
}

export function roofText({ name, used, unit, used_from: from }: CounterRooflineCeilingsRow): string {
  return `${name} ${rate(used ?? 0, unit)}${from === "empirical" ? ", measured" : ""}`;
}

export function paintRoofline(painter: Painter, frame: LogFrame, picture: RooflinePicture): void {
  const { scene, work } = picture;
  const unit = work === "flop" ? "FLOP" : "IOP";
  // The roofs are named in tera where they are that high, so the numbers beside them are, too.
  const [prefix, unitY] = frame.window.top > 3 ? ["T", 1000] : ["G", 1];
  paintLogAxes(painter, frame, { x: `${unit} per byte`, y: `${prefix}${unit}/s` }, unitY);
  painter.clipped(frame.x0, frame.y0, frame.plotWidth, frame.plotHeight + 1, () => {
    for (const roof of scene.roofs) paintRoof(painter, frame, roof);
    const marks = scene.marks.map((mark) => ({ x: frame.x(mark.intensity), y: frame.y(mark.gops_per_second) }));
    paintSlopeNames(painter, frame, scene.roofs, marks);
    paintLevelNames(painter, frame, scene.roofs);
    paintKernels(painter, frame, picture);
  });
}

function paintRoof(painter: Painter, frame: LogFrame, { ceiling, from, to }: Roof): void {
  const points = [frame.x(from[0]), frame.y(from[1]), frame.x(to[0]), frame.y(to[1])];
  painter.polyline(points, paper("text"), 1.5, ceiling.used_from === "empirical" ? [] : [6, 4]);
}

/** Marks of kernels; faint ones first, so that they lie under the others. */
function paintKernels(painter: Painter, frame: LogFrame, { scene, shares, chosen, hovered }: RooflinePicture): void {
  const isFaint = (kernel: number) => chosen !== null && kernel !== chosen && kernel !== hovered;
  const faintFirst = [...scene.marks].sort((a, b) => Number(isFaint(b.kernel)) - Number(isFaint(a.kernel)));
  for (const { kernel, level, intensity, gops_per_second } of faintFirst) {
    const colour = seriesColour(kernel);
    const fill = isFaint(kernel) ? mixed(colour, paper("background"), 0.75) : colour;
    const edge = kernel === hovered || kernel === chosen ? paper("text") : paper("background");
    const [x, y] = [frame.x(intensity), frame.y(gops_per_second)];
    const radius = radiusOf(shares.get(kernel) ?? null);
    paintMark(painter, { shape: shapeOf(level), x, y, radius, fill, edge });
  }
}

interface Spot {
  x: number;
  y: number;
}

/** Places of the name of a slope that are tried before it stands where its line comes in, whatever lies there. */
const MOST_TRIED = 24;

/** Names of bandwidths: on the lower side of their slope, as near to where it comes in as no mark and no other name is. */
function paintSlopeNames(painter: Painter, frame: LogFrame, roofs: Roof[], marks: Spot[]): void {
  const line = 15 * textScale();
  const bottom = frame.y0 + frame.plotHeight - line / 2;
  const taken: Spot[] = [];
  for (const { ceiling } of fastestFirst(roofs, "bandwidth")) {
    const bandwidth = ceiling.used ?? 1;
    const text = roofText(ceiling);
    const wide = text.length * letterWidth();
    /** At a height right of the slope: its intensity there is the rate over the bandwidth. */
    const placeAt = (y: number): Spot => {
      const slope = frame.x(10 ** (frame.at(0, y).y - Math.log10(bandwidth)));
      return { x: Math.max(slope, frame.x0) + 6, y };
    };
    const isFree = ({ x, y }: Spot) =>
      y >= frame.y0 + line &&
      !marks.some((mark) => Math.abs(mark.y - y) < line && mark.x > x - line && mark.x < x + wide + line) &&
      !taken.some((other) => Math.abs(other.y - y) < line);
    const entry = Math.min(frame.y(10 ** frame.window.left * bandwidth) + line * 0.7, bottom);
    const places = Array.from({ length: MOST_TRIED }, (_, n) => placeAt(entry - (n * line) / 2));
    const place = places.find(isFree) ?? placeAt(entry);
    label(painter, place, text, "left");
    taken.push(place);
  }
}

/** Names of compute roofs: at their right ends; those of lines that lie close together stand side by side. */
function paintLevelNames(painter: Painter, frame: LogFrame, roofs: Roof[]): void {
  const right = frame.x0 + frame.plotWidth - 4;
  let above = Number.NEGATIVE_INFINITY;
  let shift = 0;
  for (const { ceiling } of fastestFirst(roofs, "compute")) {
    const y = frame.y(ceiling.used ?? 1) - 9 * textScale();
    const text = roofText(ceiling);
    if (y - above >= 15 * textScale()) shift = 0;
    label(painter, { x: right - shift, y }, text, "right");
    shift += text.length * letterWidth() + 24;
    above = y;
  }
}

function fastestFirst(roofs: Roof[], kind: CounterRooflineCeilingsRow["kind"]): Roof[] {
  return roofs
    .filter((roof) => roof.ceiling.kind === kind)
    .sort((a, b) => (b.ceiling.used ?? 0) - (a.ceiling.used ?? 0));
}

/** A name on a ground of its own, over lines. */
function label(painter: Painter, { x, y }: Spot, text: string, align: "left" | "right"): void {
  const wide = text.length * letterWidth() + 4;
  const tall = 14 * textScale();
  painter.rect(align === "left" ? x - 2 : x - wide + 2, y - tall / 2, wide, tall, paper("background"));
  painter.text(x, y, text, paper("text"), { align });
}
