// The picture of a timeline: the tracks with their spans, and over them what is marked, selected and pointed at.
import { counted as quantity } from "../base/format";
import { paintFlagLines, paintFlags } from "../draw/flags";
import type { Frame } from "../draw/frame";
import { measureText, outline, paintCursor, paintRange, trackPlaces } from "../draw/measure";
import type { Painter } from "../draw/painter";
import { paper } from "../draw/palette";
import { paintAxis, paintGutter, paintMinimap, paintScroll } from "../draw/time_axis";
import { paintGrid, paintSpans } from "../draw/timeline_spans";
import { selectedTracks } from "../model/area";
import { cursor } from "../model/curves";
import type { Layer, Span } from "../model/layers";
import { flags } from "../model/notes";
import { type Range, selection } from "../model/selection";
import { bounds } from "../model/timewindow";
import type { TimelineProps } from "./timeline";
import { type DraggedArea, TimelineState } from "./timeline_state";

/** The selected span: as the view knows it, or else the last one that was clicked. */
export function chosenSpan(state: TimelineState, { focus }: TimelineProps): Span | null {
  return focus === undefined ? state.chosen.value : focus;
}

/** The layer of the overview strip. */
export function overviewLayer(state: TimelineState, view: TimelineProps): Layer | null {
  return view.overviewLayer ?? state.rows.value[0]?.strips[0]?.layer ?? null;
}

/** The layer whose spans are counted in a selected interval. */
export function countedLayer(state: TimelineState, view: TimelineProps): Layer | null {
  return view.countedLayer ?? overviewLayer(state, view);
}

/** The interval that is being measured, or else the selected one. */
export function markedRange(state: TimelineState): Range | undefined {
  return state.measuring.value ?? selection.value.range;
}

function markedTracks(state: TimelineState): DraggedArea | null {
  return state.measuring.value ? state.draggedArea.value : selectedTracks();
}

/** How many spans of the counted layer are in an interval and the marked tracks: "≈ 1,234 instructions". */
export function countedText(state: TimelineState, view: TimelineProps, range: Range): string {
  const { set } = state;
  const { detail } = state.frame.value;
  const layer = countedLayer(state, view);
  if (!view.countedAs || !layer || !set.pieces(layer, range, detail).length) return "";
  const area = markedTracks(state);
  const isOfArea = area?.layer === layer.name;
  const all = state.rows.value.flatMap((row) => row.strips.filter((s) => s.layer === layer).map((s) => s.track));
  const tracks = isOfArea ? all.filter((track) => area.tracks.has(track)) : all;
  void set.store.turn.value;
  const { count, isExact } = set.countIn({ layer, tracks, range }, detail);
  return `${isExact ? "" : "≈ "}${quantity(count, view.countedAs)}`;
}

/** Spans, labels and axes; drawn again only when they change. */
export function paintTracks(painter: Painter, frame: Frame, state: TimelineState, view: TimelineProps): void {
  const { set } = state;
  const chosenRow = rowOf(state, chosenSpan(state, view));
  for (const part of TimelineState.framesOf(frame)) {
    paintGrid(painter, part);
    paintSpans(painter, part, set, view);
    view.overlay?.(painter, part);
    const isPinned = part !== frame;
    const columns = isPinned ? [part.parts.gutter] : state.columnsFor(frame.parts.width);
    paintGutter(painter, part, columns, chosenRow);
    if (isPinned) painter.rect(0, part.parts.height, frame.parts.width, 2, paper("accent"));
  }
  paintMinimap(painter, frame, { set, layer: overviewLayer(state, view), bounds: bounds.value });
  paintAxis(painter, frame.beside ?? frame, state.axisY, bounds.value.begin);
}

/** What lies over the spans and changes often: selections, flags, the pointer. */
export function paintMarks(painter: Painter, frame: Frame, state: TimelineState, view: TimelineProps): void {
  const marked = markedIn(frame, state, view);
  const parts = TimelineState.framesOf(frame);
  for (const part of parts) {
    if (marked) paintMarked(painter, part, marked, part === parts[0]);
    view.highlight?.(painter, part);
    paintOutlines(painter, part, state, view);
    paintFlagLines(painter, part, flags.value);
  }
  paintFlags(painter, frame, flags.value, state.axisY);
  paintScroll(painter, frame);
  const edge = state.draggedTrack.value?.y ?? null;
  if (edge !== null) painter.rect(0, edge - 1, frame.parts.width, 3, paper("accent"));
  const at = cursor.value; // of another view over time, or of this one
  if (at !== null && at >= frame.window.begin && at <= frame.window.end) {
    paintCursor(painter, frame, frame.timeToX(at), state.axisY);
  }
}

interface Marked {
  range: Range;
  /** The tracks that it is about, where this timeline has their layer; null = all. */
  area: DraggedArea | null;
  /** Its start, its length and how much is in it. */
  text: string;
}

/** The measured or selected interval; null = there is none. */
function markedIn(frame: Frame, state: TimelineState, view: TimelineProps): Marked | null {
  const range = markedRange(state);
  if (!range) return null;
  const chosen = markedTracks(state);
  const isHere = state.rows.value.some((row) => row.strips.some(({ layer }) => layer.name === chosen?.layer));
  const area = isHere ? chosen : null;
  const trackCount = area ? quantity(area.tracks.size, "tracks") : "";
  return { range, area, text: measureText(frame, range, [trackCount, countedText(state, view, range)]) };
}

/** The text stands on the uppermost part of the picture only. */
function paintMarked(painter: Painter, part: Frame, { range, area, text }: Marked, isUppermost: boolean): void {
  const places = area ? trackPlaces(part, area.layer, area.tracks) : null;
  paintRange(painter, part, { range, places, text: isUppermost ? text : "" });
}

/** Around the selected span, and around the one under the pointer. */
function paintOutlines(painter: Painter, part: Frame, state: TimelineState, view: TimelineProps): void {
  const span = chosenSpan(state, view);
  const place = span && part.trackToY(span.layer, span.track);
  if (span && place) outline(painter, part, { place, range: span, colour: paper("text") });
  const hit = state.hit.value;
  const hitPlace = hit?.span && part.trackToY(hit.layer, hit.track);
  if (hit?.span && hitPlace) {
    outline(painter, part, { place: hitPlace, range: hit.span, colour: paper("accent"), width: 1 });
  }
}

/** The key of the row of a span; null = there is none. */
function rowOf(state: TimelineState, span: Span | null): string | null {
  if (!span) return null;
  const isIt = (strip: { layer: Layer; track: number }) => strip.layer === span.layer && strip.track === span.track;
  return state.rows.value.find((row) => row.strips.some(isIt))?.key ?? null;
}
