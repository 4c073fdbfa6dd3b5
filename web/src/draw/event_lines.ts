// Events as vertical lines through the tracks of their shader engine.
import { type Layer, type LayerSet, type Span, spanOf } from "../model/layers";
import type { Frame } from "./frame";
import type { Painter } from "./painter";
import { spanColour } from "./timeline_spans";

/** Further lines of one picture are left out. */
const MOST_LINES = 600;
/** Appended to #rrggbb: less than opaque, so that the spans below are seen. */
const FADED = "b0";

export interface Events {
  set: LayerSet;
  /** The layer of the events: a track per shader engine. */
  layer: Layer;
  /** Whether an event is drawn; default: every one is. */
  isShown?: (span: Span) => boolean;
  /** The outermost group of tracks that the events of a track go through, by its name. */
  groupOf: (track: number) => string;
}

/** Lines for the events on screen. */
export function paintEventLines(painter: Painter, frame: Frame, events: Events): void {
  const { gutter, top, height } = frame.parts;
  let count = 0;
  painter.clipped(gutter, top, frame.plotWidth, Math.max(0, height - top), () => {
    for (const { track } of events.layer.tracks) {
      const place = placeOfGroup(frame, events.groupOf(track));
      if (!place) continue;
      for (const span of eventsOnScreen(frame, events, track)) {
        if (++count > MOST_LINES) return;
        const x = Math.round(frame.timeToX(span.begin)) + 0.5;
        painter.polyline([x, place.from, x, place.to], `${spanColour(events.layer, span.kind, {})}${FADED}`, 1);
      }
    }
  });
}

/** The part of the canvas that an unfolded group takes; null = it is not on screen. A group may say more behind its name. */
function placeOfGroup(frame: Frame, name: string): { from: number; to: number } | null {
  const { tracks, top, height } = frame.parts;
  const group = tracks.groups.find(
    ({ level, label }) => level === 0 && (label === name || label.startsWith(`${name} `)),
  );
  if (!group || group.isFolded) return null;
  const from = Math.max(top, frame.toScreen(group.y));
  const to = Math.min(height, frame.toScreen(group.y + group.height));
  return from < to ? { from, to } : null;
}

/** The events of a track that begin on screen. */
function* eventsOnScreen(frame: Frame, { set, layer, isShown }: Events, track: number): Generator<Span> {
  const { window } = frame;
  for (const { tile, level, begin, end } of set.pieces(layer, window, frame.detail)) {
    for (let i = tile.from(track, Math.max(begin, window.begin)); i < tile.last(track); i++) {
      const span = spanOf(layer, track, tile, i, level);
      if (span.begin >= end || span.begin > window.end) break;
      if (isShown?.(span) ?? true) yield span;
    }
  }
}
