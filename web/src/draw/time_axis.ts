// The time axis, the labels of tracks, and the overview of the whole time.
import { exact } from "../base/format";
import type { Layer, LayerSet } from "../model/layers";
import { cellWidth } from "../model/levels";
import type { Range } from "../model/selection";
import type { Frame } from "./frame";
import { letterWidth, type Painter, textScale } from "./painter";
import { paper } from "./palette";
import { tickNanoseconds, ticks } from "./ticks";
import { HEADING, type PlacedGroup, type TrackLayout } from "./track_layout";

/** Heights in pixels. */
export const MINIMAP = 22;
const AXIS_LINE = 15;

/** Height of the axis: one line, or two when cycles can be told in microseconds too. */
export function axisHeight(unit: "cycles" | "ns", clockMhz: number | null): number {
  return unit === "cycles" && clockMhz ? 2 * AXIS_LINE + 2 : AXIS_LINE + 4;
}

/** Whether a text that begins at x ends before the edge: a number that is cut reads as another number. */
export const fits = (x: number, text: string, edge: number) => x + text.length * letterWidth() * 1.1 <= edge;

/** Least pixels between two times in seconds; those in the unit of the document come with the frame. */
const SECONDS_GAP = 110;
/** Narrower gutters have no room for "since start". */
const WIDE_GUTTER = 110;

/** The axis from `y` to the tracks. `start` is the time from which the second line, in seconds, counts. */
export function paintAxis(painter: Painter, frame: Frame, y: number, start: number): void {
  const { unit, clockMhz, gutter, width, top, origin } = frame.parts;
  const hasSeconds = unit === "cycles" && clockMhz !== null && clockMhz > 0;
  painter.rect(0, y, width, top - y, paper("raised"));
  painter.clipped(gutter, y, frame.plotWidth, top - y, () => {
    paintTimes(painter, frame, y);
    if (hasSeconds) paintSeconds(painter, frame, y, { start, clockMhz });
  });
  const middle = y + AXIS_LINE / 2 + 1;
  const name = unit === "cycles" ? "cycles" : "time";
  const room = { maxWidth: gutter - 8 };
  painter.text(6, middle, origin && gutter > WIDE_GUTTER ? `${name} since start` : name, paper("faint"), room);
  if (hasSeconds) painter.text(6, middle + AXIS_LINE, "since start", paper("faint"), room);
  painter.polyline([0, top - 0.5, width, top - 0.5], paper("line"), 1);
}

/** The first line: the unit of the document. */
function paintTimes(painter: Painter, frame: Frame, y: number): void {
  const { unit, width, origin, ticks: marks } = frame.parts;
  for (const time of marks.times) {
    const x = frame.timeToX(time);
    const text = unit === "cycles" ? exact(time - origin) : tickNanoseconds(time - origin, marks.step);
    if (fits(x + 3, text, width)) painter.text(x + 3, y + AXIS_LINE / 2 + 1, text, paper("text"), { size: 11 });
    painter.polyline([x, y, x, y + AXIS_LINE], paper("faint"), 1);
  }
}

/** The second line: cycles since the start as seconds. */
function paintSeconds(painter: Painter, frame: Frame, y: number, clock: { start: number; clockMhz: number }): void {
  const { width, top } = frame.parts;
  const { begin, end } = frame.window;
  const nsPerCycle = 1e3 / clock.clockMhz;
  const [from, to] = [(begin - clock.start) * nsPerCycle, (end - clock.start) * nsPerCycle];
  const { times, step } = ticks(from, to, frame.plotWidth, SECONDS_GAP);
  for (const ns of times) {
    const x = frame.timeToX(clock.start + ns / nsPerCycle);
    const text = tickNanoseconds(ns, step);
    const middle = y + AXIS_LINE * 1.5 + 1;
    if (fits(x + 3, text, width)) painter.text(x + 3, middle, text, paper("faint"), { size: 11 });
    painter.polyline([x, y + AXIS_LINE + 2, x, top], paper("line"), 1);
  }
}

/** Bounds of a column of labels, in pixels before the text size is counted in. */
const WIDEST_COLUMN = 240;
const NARROWEST_COLUMN = 16;

/**
 * Widths of the columns of labels in pixels: inner groups by level, then rows. `most` is what all may have together;
 * `whole` are texts that take all columns: the last one is made wider for them.
 */
export function gutterColumns(tracks: TrackLayout, most: number, whole: string[] = []): number[] {
  const letters = new Array<number>(tracks.columns + 1).fill(0);
  for (const { level, label } of tracks.groups) {
    // with the sign that folds it and a space
    if (level > 0) letters[level - 1] = Math.max(letters[level - 1] ?? 0, label.length + 2);
  }
  for (const { row } of tracks.rows) letters[tracks.columns] = Math.max(letters[tracks.columns] ?? 0, row.label.length);
  const widest = WIDEST_COLUMN * textScale();
  const widthOf = (count: number) => count * letterWidth() + 10;
  const widths = letters.map((count) => Math.min(widest, Math.max(NARROWEST_COLUMN, widthOf(count))));
  const wholeWidth = Math.min(widest, Math.max(0, ...whole.map((text) => widthOf(text.length))));
  const missing = wholeWidth - sumOf(widths);
  if (missing > 0) widths[tracks.columns] = (widths[tracks.columns] ?? 0) + missing;
  const sum = sumOf(widths);
  return sum > most ? widths.map((width) => (width * most) / sum) : widths;
}

const sumOf = (values: number[]) => values.reduce((a, b) => a + b, 0);

/** Lower rows, and lower parts of groups, have no label, in pixels. */
const LEAST_LABELLED = 9;

/** The labels at the left; `chosenRow` is the key of the row that is selected. */
export function paintGutter(painter: Painter, frame: Frame, columns: number[], chosenRow: string | null): void {
  const { gutter, top, height, tracks, width } = frame.parts;
  const plotHeight = Math.max(0, height - top);
  painter.clipped(0, top, width, plotHeight, () => {
    painter.rect(0, top, gutter, plotHeight, paper("raised"));
    const left = gutter - (columns.at(-1) ?? 0);
    for (const { row, y, height: rowHeight, folded } of frame.visibleRows()) {
      const isHeading = folded !== null && row.path.length === 1; // which the group paints itself
      if (rowHeight < LEAST_LABELLED || isHeading) continue;
      const isChosen = row.key === chosenRow;
      if (isChosen) painter.rect(left, frame.toScreen(y), gutter - left, rowHeight, paper("selected"));
      const ink = paper(isChosen ? "text" : "faint");
      const style = { size: Math.min(11, rowHeight), maxWidth: gutter - left - 6 };
      painter.text(left + 4, frame.toScreen(y) + rowHeight / 2, row.label, ink, style);
    }
    for (const group of tracks.groups) {
      if (group.level === 0) paintHeading(painter, frame, group);
      else paintColumnGroup(painter, frame, group, columns);
    }
    painter.polyline([gutter - 0.5, top, gutter - 0.5, height], paper("line"), 1);
  });
}

const isOnScreen = (frame: Frame, { y, height }: PlacedGroup) =>
  frame.toScreen(y) <= frame.parts.height && frame.toScreen(y) + height >= frame.parts.top;

const labelOf = ({ isFolded, label }: PlacedGroup) => `${isFolded ? "▸" : "▾"} ${label}`;

/** An outermost group: over the whole width, unless it is folded and its tracks stand beside it. */
function paintHeading(painter: Painter, frame: Frame, group: PlacedGroup): void {
  if (!isOnScreen(frame, group)) return;
  const { width, gutter } = frame.parts;
  const y = frame.toScreen(group.y);
  if (!group.isFolded) painter.rect(0, y, width, HEADING, paper("raised"));
  const style = { bold: true, maxWidth: group.isFolded ? gutter - 8 : width - 8 };
  painter.text(4, y + HEADING / 2, labelOf(group), paper("text"), style);
  painter.polyline([0, y + 0.5, width, y + 0.5], paper("line"), 1);
}

/** An inner group: in its column, its label near the top of what is seen of it. */
function paintColumnGroup(painter: Painter, frame: Frame, group: PlacedGroup, columns: number[]): void {
  if (!isOnScreen(frame, group)) return;
  const { top, height, gutter } = frame.parts;
  const y = frame.toScreen(group.y);
  const left = sumOf(columns.slice(0, group.level - 1));
  painter.polyline([left, y + 0.5, gutter, y + 0.5], paper("line"), 1);
  const from = Math.max(y, top);
  const to = Math.min(y + group.height, height);
  if (to - from < LEAST_LABELLED) return;
  const style = { size: 11, maxWidth: (columns[group.level - 1] ?? 0) - 5 };
  painter.text(left + 4, Math.min(from + 8, (from + to) / 2), labelOf(group), paper("text"), style);
}

/** Where the tracks on screen stand among all of them, when not all fit. */
export function paintScroll(painter: Painter, frame: Frame): void {
  const { tracks, top, height, width, scroll } = frame.parts;
  const shownHeight = height - top;
  if (shownHeight <= 0 || tracks.height <= shownHeight) return;
  const thumb = Math.max(16, (shownHeight * shownHeight) / tracks.height);
  const y = top + ((shownHeight - thumb) * scroll) / (tracks.height - shownHeight);
  painter.rect(width - 6, y, 5, thumb, `${paper("faint")}b0`);
}

/** By tile, how many tracks are busy in each of its cells: counted once. */
const profiles = new WeakMap<object, Float32Array>();

/** How many tracks are busy, over the whole time, from the coarsest tile. */
function busyTracks(set: LayerSet, layer: Layer): Float32Array | null {
  const tile = set.store.at({ layer: layer.name, level: layer.level_count - 1, tile: 0 });
  if (!tile) return null;
  let profile = profiles.get(tile);
  if (!profile) {
    const cells = layer.tile_cells;
    const width = cellWidth(layer, layer.level_count - 1);
    profile = new Float32Array(cells);
    for (let track = 0; track < layer.track_count; track++) {
      let counted = 0; // cells of this track before it are counted: spans of a track may lie over each other
      for (let i = tile.first(track); i < tile.last(track); i++) {
        const first = Math.max(counted, Math.floor(((tile.begin[i] as number) - layer.begin) / width));
        const last = Math.min(cells, Math.ceil(((tile.end[i] as number) - layer.begin) / width));
        for (let cell = first; cell < last; cell++) profile[cell] = (profile[cell] as number) + 1;
        counted = Math.max(counted, last);
      }
    }
    profiles.set(tile, profile);
  }
  return profile;
}

export interface MinimapParts {
  set: LayerSet;
  /** The layer whose busy tracks are shown; null = none. */
  layer: Layer | null;
  /** The whole time. */
  bounds: Range;
}

/** The whole time with the interval on screen: how high = how many tracks are busy. */
export function paintMinimap(painter: Painter, frame: Frame, { set, layer, bounds }: MinimapParts): void {
  const { gutter, width } = frame.parts;
  painter.rect(0, 0, width, MINIMAP, paper("background"));
  const pixelsPerTime = frame.plotWidth / (bounds.end - bounds.begin);
  const x = (time: number) => gutter + (time - bounds.begin) * pixelsPerTime;
  const busy = layer && busyTracks(set, layer);
  if (busy) {
    const points = outlineOf(busy, layer, { x, right: width });
    painter.clipped(gutter, 0, frame.plotWidth, MINIMAP, () => painter.polygon(points, paper("line")));
  }
  painter.text(6, MINIMAP / 2, "overview", paper("faint"), { maxWidth: gutter - 8 });
  const from = x(frame.window.begin);
  const to = Math.max(x(frame.window.end), from + 3);
  painter.rect(from, 0, to - from, MINIMAP, `${paper("accent")}33`);
  painter.polyline([from, 0, to, 0, to, MINIMAP, from, MINIMAP, from, 0], paper("accent"), 1.5);
}

/** The area below the numbers of busy tracks as a polygon, on the scale of the largest; cells right of `right` are left out. */
function outlineOf(
  busy: Float32Array,
  layer: Layer,
  { x, right }: { x: (time: number) => number; right: number },
): number[] {
  const cell = cellWidth(layer, layer.level_count - 1);
  const most = busy.reduce((a, b) => Math.max(a, b), 1);
  const points = [x(layer.begin), MINIMAP];
  for (let i = 0; i < busy.length; i++) {
    const y = MINIMAP - ((busy[i] as number) / most) * (MINIMAP - 4);
    const [from, to] = [x(layer.begin + i * cell), x(layer.begin + (i + 1) * cell)];
    if (from > right) break;
    points.push(from, y, to, y);
  }
  points.push(Math.min(points.at(-2) ?? right, right), MINIMAP);
  return points;
}
