// Arrows over a track from a memory operation to the wait for it. Ends beside the screen become labels at its edge.
import type { Link, Step } from "../model/producers";
import type { Frame } from "./frame";
import { letterWidth, type Painter } from "./painter";
import { inkOn } from "./palette";

/** A place on the canvas that leads to an execution. */
export interface ArrowEnd {
  x: number;
  y: number;
  width: number;
  height: number;
  step: Step;
}

/** Pixels: length of an arrow head, and half the size of what can be clicked around an end. */
const HEAD = 6;
const REACH = 7;
/** Lines that a curve is drawn as. */
const STEPS = 16;
/** Arrows bow out of the track by LOWEST pixels and up to LIFTS - 1 times LIFT more, so that neighbours can be told apart. */
const LOWEST = 12;
const LIFTS = 5;
const LIFT = 6;
/** Further links are left out. */
const MOST = 40;

/** The steps whose ends lie left and right of the screen, those of the nearest links first. */
interface Beside {
  left: Step[];
  right: Step[];
}

export interface WaitArrows {
  /** The track of the wave on the canvas. */
  place: { y: number; height: number };
  links: Link[];
  /** The selected execution: its own end of a link leads nowhere. */
  from: Step;
  colour: string;
}

/** Draws the links of one execution; returns where their other ends stand, to be clicked. */
export function paintWaitArrows(
  painter: Painter,
  frame: Frame,
  { place, links, from, colour }: WaitArrows,
): ArrowEnd[] {
  const { gutter, top, height, width } = frame.parts;
  if (place.y + place.height < top || place.y > height) return [];
  const isUp = place.y - top > LOWEST + LIFTS * LIFT; // else there is no room above the track
  const y = isUp ? place.y : place.y + place.height;
  const ends: ArrowEnd[] = [];
  const beside: Beside = { left: [], right: [] };
  const addEnd = (step: Step, x: number) => {
    if (step.position === from.position) return;
    if (x < gutter) beside.left.push(step);
    else if (x > width) beside.right.push(step);
    else ends.push({ x: x - REACH, y: y - REACH, width: 2 * REACH, height: 2 * REACH, step });
  };
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    links.slice(0, MOST).forEach(({ producer, wait }, number) => {
      const [start, end] = [frame.timeToX(producer.issue), frame.timeToX(wait.time)];
      if (Math.max(start, end) < gutter || Math.min(start, end) > width) return;
      const lifted = y + (LOWEST + LIFT * (number % LIFTS)) * (isUp ? -1 : 1);
      // at an edge of the screen the line goes on: it leaves at the height that it has there
      const first = { x: Math.max(start, gutter + 1), y: start < gutter ? lifted : y };
      const last = { x: Math.min(end, width - 1), y: end > width ? lifted : y };
      painter.polyline(bow(first, last, lifted), colour, 1.5);
      if (start >= gutter) painter.rect(start - 2.5, y - 2.5, 5, 5, colour);
      if (end <= width) painter.polygon(headAt(last.x, y, isUp), colour);
      addEnd(producer, start);
      addEnd(wait, end);
    });
    ends.push(...paintLabels(painter, frame, beside, { y: y + (isUp ? -LOWEST - 12 : LOWEST - 3), colour }));
  });
  return ends;
}

/** Labels at the edges of the screen, each for the nearest step beyond its edge. */
function paintLabels(painter: Painter, frame: Frame, beside: Beside, at: { y: number; colour: string }): ArrowEnd[] {
  const { gutter, width } = frame.parts;
  return (["left", "right"] as const).flatMap((side) => {
    const steps = beside[side];
    const nearest = steps[0];
    if (!nearest) return [];
    const words = steps.length > 1 ? `${steps.length} rows` : `row ${nearest.row}`;
    const text = side === "left" ? `◂ ${words}` : `${words} ▸`;
    const wide = text.length * letterWidth() + 8;
    const label = { x: side === "left" ? gutter + 2 : width - wide - 2, y: at.y, width: wide, height: 15 };
    painter.rect(label.x, label.y, wide, label.height, at.colour);
    painter.text(label.x + 4, label.y + 8, text, inkOn(at.colour));
    return [{ ...label, step: nearest }];
  });
}

/** The end of an arrow at a point. */
export function endAt(ends: ArrowEnd[], x: number, y: number): Step | undefined {
  return ends.find((end) => x >= end.x && x <= end.x + end.width && y >= end.y && y <= end.y + end.height)?.step;
}

function headAt(x: number, y: number, isUp: boolean): number[] {
  const back = isUp ? y - HEAD : y + HEAD;
  return [x, y, x - HEAD * 0.6, back, x + HEAD * 0.6, back];
}

interface Point {
  x: number;
  y: number;
}

/** A cubic Bézier curve from one point to another that bows to a height, as x0, y0, x1, y1, … */
function bow(first: Point, last: Point, lifted: number): number[] {
  // The inner control points lie beyond the height: at its middle a curve is three quarters of the way to them.
  const pull = (y: number) => (y === lifted ? lifted : lifted + (lifted - y) / 3);
  const points: number[] = [];
  for (let step = 0; step <= STEPS; step++) {
    const t = step / STEPS;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
    const y = a * first.y + b * pull(first.y) + c * pull(last.y) + d * last.y;
    points.push((a + b) * first.x + (c + d) * last.x, y);
  }
  return points;
}
