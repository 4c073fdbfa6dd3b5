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

/** The steps whose ends lie left and right of the screen. */
interface Beside {
  left: Step[];
  right: Step[];
}

/** Draws the links of one execution; returns where their ends stand, to be clicked. */
export function paintWaitArrows(
  painter: Painter,
  frame: Frame,
  place: { y: number; height: number },
  links: Link[],
  from: Step,
  colour: string,
): ArrowEnd[] {
  const { gutter, top, height, width } = frame.parts;
  const isUp = place.y - top > LOWEST + LIFTS * LIFT;
  const y = isUp ? place.y : place.y + place.height;
  const ends: ArrowEnd[] = [];
  const beside: Beside = { left: [], right: [] };
  if (place.y + place.height < top || place.y > height) return ends;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    links.slice(0, MOST).forEach(({ producer, wait }, number) => {
      const [begin, end] = [frame.timeToX(producer.issue), frame.timeToX(wait.time)];
      if (Math.max(begin, end) < gutter || Math.min(begin, end) > width) return;
      const [x0, x1] = [Math.max(begin, gutter + 1), Math.min(end, width - 1)];
      const lift = (LOWEST + LIFT * (number % LIFTS)) * (isUp ? -1 : 1);
      // At an edge the line goes on: it leaves at the height that it would have there.
      const points = bow(x0, begin < gutter ? y + lift : y, x1, end > width ? y + lift : y, y + lift);
      painter.polyline(points, colour, 1.5);
      if (begin >= gutter) painter.rect(begin - 2.5, y - 2.5, 5, 5, colour);
      if (end <= width) painter.polygon(headAt(x1, y, isUp), colour);
      for (const [step, x] of [
        [producer, begin],
        [wait, end],
      ] as const) {
        if (step.position === from.position) continue;
        if (x < gutter) beside.left.push(step);
        else if (x > width) beside.right.push(step);
        else ends.push({ x: x - REACH, y: y - REACH, width: 2 * REACH, height: 2 * REACH, step });
      }
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

/** A curve from one point to another that bows to a height. */
function bow(x0: number, y0: number, x1: number, y1: number, lifted: number): number[] {
  // A curve stays a quarter below the points that pull it.
  const pull = (y: number) => (y === lifted ? lifted : lifted + (lifted - y) / 3);
  const points: number[] = [];
  for (let step = 0; step <= STEPS; step++) {
    const t = step / STEPS;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
    points.push((a + b) * x0 + (c + d) * x1, a * y0 + b * pull(y0) + c * pull(y1) + d * y1);
  }
  return points;
}
