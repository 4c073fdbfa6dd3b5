// Lines over the spans of a timeline: arrows from calls to what they launched, edges between spans that touch.
import type { Edges, Flow } from "../model/flows";
import type { Frame } from "./frame";
import type { Painter } from "./painter";

/** Lines that a curve is drawn as, and the length of an arrow head in pixels. */
const STEPS = 14;
const HEAD = 5;
/** How far a curve goes sideways before it ends, in pixels. */
const [LEAST_BEND, MOST_BEND] = [18, 120];

export interface FlowParts {
  /** The name of the layer whose tracks the flows connect. */
  layer: string;
  flows: Flow[];
  colour: string;
  /** Of the lines, in pixels; default: 1. */
  width?: number;
}

/** Those of the flows whose tracks are on the timeline, as curves; flows that lie outside of the time are left out. */
export function paintFlows(painter: Painter, frame: Frame, { layer, flows, colour, width = 1 }: FlowParts): void {
  const { gutter, top, height } = frame.parts;
  const { begin, end } = frame.window;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    for (const flow of flows) {
      if (Math.max(flow.from_begin, flow.to_begin) < begin || Math.min(flow.from_begin, flow.to_begin) > end) continue;
      const from = frame.trackToY(layer, flow.from_track);
      const to = frame.trackToY(layer, flow.to_track);
      if (!from || !to) continue;
      const isDown = to.y >= from.y;
      const x0 = frame.timeToX(flow.from_begin) + 1;
      const x1 = frame.timeToX(flow.to_begin);
      const y0 = isDown ? from.y + from.height : from.y;
      const y1 = to.y + to.height / 2;
      painter.polyline(curve(x0, y0, x1 - HEAD, y1), colour, width);
      painter.polygon([x1, y1, x1 - HEAD, y1 - HEAD * 0.6, x1 - HEAD, y1 + HEAD * 0.6], colour);
    }
  });
}

/** A cubic Bézier curve as x0, y0, x1, y1, …: straight down from the first point, and into the second from the left. */
function curve(x0: number, y0: number, x1: number, y1: number): number[] {
  const bend = Math.max(LEAST_BEND, Math.min(MOST_BEND, Math.abs(x1 - x0) / 2));
  const points: number[] = [];
  for (let step = 0; step <= STEPS; step++) {
    const t = step / STEPS;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
    points.push(a * x0 + b * x0 + c * (x1 - bend) + d * x1, a * y0 + b * (y0 + (y1 - y0) / 2) + c * y1 + d * y1);
  }
  return points;
}

/** A line at the start of every span that touches the one before it, which has the same colour. */
export function paintEdges(
  painter: Painter,
  frame: Frame,
  { layer, edges, colour }: { layer: string; edges: Edges[]; colour: string },
): void {
  const { gutter, top, height } = frame.parts;
  const { begin, end } = frame.window;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    for (const { tracks, times } of edges) {
      for (let i = 0; i < times.length; i++) {
        const time = times[i] as number;
        if (time <= begin || time >= end) continue;
        const place = frame.trackToY(layer, tracks[i] as number);
        if (!place || place.y + place.height < top || place.y > height) continue;
        painter.rect(Math.round(frame.timeToX(time)) - 0.5, place.y, 1, place.height, colour);
      }
    }
  });
}
