// Events as vertical lines through the tracks of their shader engine.
import { type Layer, type LayerSet, type Span, spanOf } from "../model/layers";
import type { Frame } from "./frame";
import type { Painter } from "./painter";
import { type SpanStyle, spanColour } from "./timeline_spans";

const MOST_LINES = 600;

/** Lines for the events on screen; `groupOf` says through which group of tracks those of a track go. */
export function paintEventLines(
  painter: Painter,
  frame: Frame,
  set: LayerSet,
  layer: Layer,
  isShown: (span: Span) => boolean,
  groupOf: (track: number) => string,
  style: SpanStyle,
): void {
  const { gutter, top, height } = frame.parts;
  const pieces = set.pieces(layer, frame.window, frame.detail);
  let lines = 0;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    for (const { track } of layer.tracks) {
      const group = frame.parts.tracks.groups.find((g) => g.level === 0 && isSame(g.label, groupOf(track)));
      if (!group || group.isFolded) continue;
      const from = Math.max(top, frame.toScreen(group.y));
      const to = Math.min(height, frame.toScreen(group.y + group.height));
      if (from >= to) continue;
      for (const { tile, level, begin, end } of pieces) {
        for (let i = tile.from(track, Math.max(begin, frame.window.begin)); i < tile.last(track); i++) {
          const time = tile.begin[i] as number;
          if (time >= end || time > frame.window.end) break;
          const span = spanOf(layer, track, tile, i, level);
          if (!isShown(span)) continue;
          if (++lines > MOST_LINES) return;
          const x = Math.round(frame.timeToX(time)) + 0.5;
          painter.polyline([x, from, x, to], `${spanColour(layer, span.kind, style)}b0`, 1);
        }
      }
    }
  });
}

function isSame(label: string, group: string): boolean {
  return label === group || label.startsWith(`${group} `);
}
