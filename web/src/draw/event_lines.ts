// Events as vertical lines through the lanes of their shader engine.
import { type Span, spanOf, type Track, type TrackSet } from "../model/tracks";
import type { Frame } from "./frame";
import type { Painter } from "./painter";
import { type SpanStyle, spanColour } from "./timeline_spans";

const MOST_LINES = 600;

/** Lines for the events on screen; `groupOf` says through which group of lanes those of a lane go. */
export function paintEventLines(
  painter: Painter,
  frame: Frame,
  set: TrackSet,
  track: Track,
  isShown: (span: Span) => boolean,
  groupOf: (lane: number) => string,
  style: SpanStyle,
): void {
  const { gutter, top, height } = frame.parts;
  const pieces = set.pieces(track, frame.window, frame.detail);
  let lines = 0;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    for (const { lane } of track.lanes) {
      const group = frame.parts.lanes.groups.find((g) => g.level === 0 && isSame(g.label, groupOf(lane)));
      if (!group || group.isFolded) continue;
      const from = Math.max(top, frame.toScreen(group.y));
      const to = Math.min(height, frame.toScreen(group.y + group.height));
      if (from >= to) continue;
      for (const { tile, level, begin, end } of pieces) {
        for (let i = tile.from(lane, Math.max(begin, frame.window.begin)); i < tile.last(lane); i++) {
          const time = tile.begin[i] as number;
          if (time >= end || time > frame.window.end) break;
          const span = spanOf(track, lane, tile, i, level);
          if (!isShown(span)) continue;
          if (++lines > MOST_LINES) return;
          const x = Math.round(frame.timeToX(time)) + 0.5;
          painter.polyline([x, from, x, to], `${spanColour(track, span.kind, style)}b0`, 1);
        }
      }
    }
  });
}

function isSame(label: string, group: string): boolean {
  return label === group || label.startsWith(`${group} `);
}
