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

export function paintAxis(painter: Painter, frame: Frame, y: number, start: number): void {
  const { unit, clockMhz, gutter, width, top, origin } = frame.parts;
  painter.rect(0, y, width, top - y, paper("raised"));
  const middle = y + AXIS_LINE / 2 + 1;
  painter.clipped(gutter, y, frame.plotWidth, top - y, () => {
    for (const time of frame.parts.ticks.times) {
      const x = frame.timeToX(time);
      const text = unit === "cycles" ? exact(time - origin) : tickNanoseconds(time - origin, frame.parts.ticks.step);
      if (fits(x + 3, text, width)) painter.text(x + 3, middle, text, paper("text"), { size: 11 });
      painter.polyline([x, y, x, y + AXIS_LINE], paper("faint"), 1);
    }
    if (unit !== "cycles" || !clockMhz) return;
    const perCycle = 1e3 / clockMhz;
    const { begin, end } = frame.window;
    const marks = ticks((begin - start) * perCycle, (end - start) * perCycle, frame.plotWidth, 110);
    for (const time of marks.times) {
      const x = frame.timeToX(start + time / perCycle);
      const text = tickNanoseconds(time, marks.step);
      if (fits(x + 3, text, width)) painter.text(x + 3, middle + AXIS_LINE, text, paper("faint"), { size: 11 });
      painter.polyline([x, y + AXIS_LINE + 2, x, top], paper("line"), 1);
    }
  });
  const what = unit === "cycles" ? "cycles" : "time";
  const room = { maxWidth: gutter - 8 };
  painter.text(6, middle, origin && gutter > 110 ? `${what} since start` : what, paper("faint"), room);
  if (unit === "cycles" && clockMhz) painter.text(6, middle + AXIS_LINE, "since start", paper("faint"), room);
  painter.polyline([0, top - 0.5, width, top - 0.5], paper("line"), 1);
}

/** Widths of the columns of labels: inner groups, then rows. Texts that take the whole width make the last one wider. */
export function gutterColumns(tracks: TrackLayout, most: number, whole: string[] = []): number[] {
  const widths = new Array<number>(tracks.columns + 1).fill(0);
  for (const group of tracks.groups) {
    // room for the sign that folds it
    if (group.level > 0) widths[group.level - 1] = Math.max(widths[group.level - 1] ?? 0, group.label.length + 2);
  }
  for (const { row } of tracks.rows) {
    widths[tracks.columns] = Math.max(widths[tracks.columns] ?? 0, row.label.length);
  }
  const pixels = widths.map((letters) => Math.min(240 * textScale(), Math.max(16, letters * letterWidth() + 10)));
  const wide = Math.max(0, ...whole.map((text) => text.length * letterWidth() + 10));
  const missing = Math.min(240 * textScale(), wide) - pixels.reduce((a, b) => a + b, 0);
  if (missing > 0) pixels[tracks.columns] = (pixels[tracks.columns] ?? 0) + missing;
  const sum = pixels.reduce((a, b) => a + b, 0);
  return sum > most ? pixels.map((width) => (width * most) / sum) : pixels;
}

export function paintGutter(painter: Painter, frame: Frame, columns: number[], chosenRow: string | null): void {
  const { gutter, top, height, tracks, width } = frame.parts;
  const tall = Math.max(0, height - top);
  painter.clipped(0, top, width, tall, () => {
    painter.rect(0, top, gutter, tall, paper("raised"));
    const labels = gutter - (columns.at(-1) ?? 0);
    for (const { row, y, height, folded } of frame.visibleRows()) {
      if (height < 9 || (folded !== null && row.path.length === 1)) continue;
      const isChosen = row.key === chosenRow;
      if (isChosen) painter.rect(labels, frame.toScreen(y), gutter - labels, height, paper("selected"));
      const ink = paper(isChosen ? "text" : "faint");
      const style = { size: Math.min(11, height), maxWidth: gutter - labels - 6 };
      painter.text(labels + 4, frame.toScreen(y) + height / 2, row.label, ink, style);
    }
    for (const group of tracks.groups) paintGroup(painter, frame, group, columns);
    painter.polyline([gutter - 0.5, top, gutter - 0.5, height], paper("line"), 1);
  });
}

function paintGroup(painter: Painter, frame: Frame, group: PlacedGroup, columns: number[]): void {
  const { top, height, width, gutter } = frame.parts;
  const y = frame.toScreen(group.y);
  if (y > height || y + group.height < top) return;
  const sign = group.isFolded ? "▸" : "▾";
  if (group.level === 0) {
    if (!group.isFolded) painter.rect(0, y, width, HEADING, paper("raised"));
    painter.text(4, y + HEADING / 2, `${sign} ${group.label}`, paper("text"), {
      bold: true,
      maxWidth: group.isFolded ? gutter - 8 : width - 8,
    });
    painter.polyline([0, y + 0.5, width, y + 0.5], paper("line"), 1);
    return;
  }
  const left = columns.slice(0, group.level - 1).reduce((a, b) => a + b, 0);
  const wide = columns[group.level - 1] ?? 0;
  painter.polyline([left, y + 0.5, gutter, y + 0.5], paper("line"), 1);
  const from = Math.max(y, top);
  const to = Math.min(y + group.height, height);
  if (to - from < 9) return;
  const text = `${sign} ${group.label}`;
  painter.text(left + 4, Math.min(from + 8, (from + to) / 2), text, paper("text"), { size: 11, maxWidth: wide - 5 });
}

/** Where the tracks on screen stand among all of them, when not all fit. */
export function paintScroll(painter: Painter, frame: Frame): void {
  const { tracks, top, height, width, scroll } = frame.parts;
  const tall = height - top;
  if (tall <= 0 || tracks.height <= tall) return;
  const thumb = Math.max(16, (tall * tall) / tracks.height);
  const y = top + ((tall - thumb) * scroll) / (tracks.height - tall);
  painter.rect(width - 6, y, 5, thumb, `${paper("faint")}b0`);
}

/** Tile -> how many tracks are busy in each of its cells. */
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
      let counted = 0; // spans of a track may lie over each other
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

/** The whole time with the interval on screen: how high = how many tracks are busy. */
export function paintMinimap(painter: Painter, frame: Frame, set: LayerSet, layer: Layer | null, whole: Range): void {
  const { gutter, width } = frame.parts;
  painter.rect(0, 0, width, MINIMAP, paper("background"));
  const scale = frame.plotWidth / (whole.end - whole.begin);
  const x = (time: number) => gutter + (time - whole.begin) * scale;
  const busy = layer ? busyTracks(set, layer) : null;
  if (busy && layer) {
    const cell = cellWidth(layer, layer.level_count - 1);
    const most = busy.reduce((a, b) => Math.max(a, b), 1);
    const points = [x(layer.begin), MINIMAP];
    for (let i = 0; i < busy.length; i++) {
      const y = MINIMAP - ((busy[i] as number) / most) * (MINIMAP - 4);
      const [from, to] = [x(layer.begin + i * cell), x(layer.begin + (i + 1) * cell)];
      if (from > width) break;
      points.push(from, y, to, y);
    }
    points.push(Math.min(points.at(-2) ?? width, width), MINIMAP);
    painter.clipped(gutter, 0, frame.plotWidth, MINIMAP, () => painter.polygon(points, paper("line")));
  }
  painter.text(6, MINIMAP / 2, "overview", paper("faint"), { maxWidth: gutter - 8 });
  const from = x(frame.window.begin);
  const to = Math.max(x(frame.window.end), from + 3);
  painter.rect(from, 0, to - from, MINIMAP, `${paper("accent")}33`);
  painter.polyline([from, 0, to, 0, to, MINIMAP, from, MINIMAP, from, 0], paper("accent"), 1.5);
}
