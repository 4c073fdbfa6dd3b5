// The critical path over the spans of a timeline: a line along every segment, and lines from one to the next.
import type { Segment } from "../model/path";
import type { Frame } from "./frame";
import type { Painter } from "./painter";
import { colourOf } from "./palette";

/** Class of time -> its meaning among all colours. */
const MEANINGS: Record<string, string> = { kernels: "computation", idle: "quiet", unknown: "unexplained" };
const THICK = 3;

/** The colour of a class of time on the path. */
export function pathColour(name: string): string {
  return colourOf(MEANINGS[name] ?? name);
}

/** The segments whose tracks are on the timeline, in the order of time. */
export function paintPath(
  painter: Painter,
  frame: Frame,
  { layer, segments, colour }: { layer: string; segments: Segment[]; colour: string },
): void {
  const { gutter, top, height } = frame.parts;
  const { begin, end } = frame.window;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    let previous: { x: number; y: number } | null = null;
    for (const segment of segments) {
      const place = frame.trackToY(layer, segment.track);
      if (!place || segment.end < begin || segment.begin > end) {
        previous = null;
        continue;
      }
      const [x0, x1] = [frame.timeToX(segment.begin), frame.timeToX(segment.end)];
      const y = place.y + place.height - THICK;
      painter.rect(x0, y, Math.max(1, x1 - x0), THICK, colour);
      if (previous && previous.y !== y && Math.abs(previous.x - x0) < 2) {
        painter.rect(x0 - 0.75, Math.min(previous.y, y), 1.5, Math.abs(previous.y - y) + THICK, colour);
      }
      previous = { x: x1, y };
    }
  });
}
