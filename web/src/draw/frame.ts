// One picture of a timeline: which time and which tracks stand where. Tracks have a y of their own, from 0 for the first one
// on; the canvas shows a part of them below the axis, moved by how far they are scrolled.
import type { Layer } from "../model/layers";
import type { Range } from "../model/selection";
import type { Ticks } from "./ticks";
import { type PlacedRow, type PlacedStrip, rowsBetween, stripAt, type TrackLayout } from "./track_layout";

export interface FrameParts {
  window: Range;
  width: number;
  height: number;
  /** Width of the labels at the left. */
  gutter: number;
  /** Height of what stands above the tracks. */
  top: number;
  /** How far the tracks are scrolled, in CSS pixels like all lengths here. */
  scroll: number;
  /** Pixels of the screen per CSS pixel. */
  ratio: number;
  tracks: TrackLayout;
  unit: "cycles" | "ns";
  clockMhz: number | null;
  /** What shown times count from. */
  origin: number;
  ticks: Ticks;
}

export class Frame {
  readonly plotWidth: number;
  /** The other part of the same picture, where some tracks are pinned: what leads to them is drawn across both. */
  beside: Frame | null = null;

  constructor(readonly parts: FrameParts) {
    this.plotWidth = Math.max(1, parts.width - parts.gutter);
  }

  get window(): Range {
    return this.parts.window;
  }

  get timePerPixel(): number {
    return (this.window.end - this.window.begin) / this.plotWidth;
  }

  /** The time of one pixel of the screen: what decides about the level of detail. */
  get detail(): number {
    return this.timePerPixel / this.parts.ratio;
  }

  timeToX(time: number): number {
    return this.parts.gutter + (time - this.window.begin) / this.timePerPixel;
  }

  xToTime(x: number): number {
    return this.window.begin + (x - this.parts.gutter) * this.timePerPixel;
  }

  /** y on the canvas of a y of the tracks. */
  toScreen(y: number): number {
    return y - this.parts.scroll + this.parts.top;
  }

  /** Where a track of a layer stands on the canvas, perhaps outside of it; null when it is not in the timeline. */
  trackToY(layer: Layer | string, track: number): { y: number; height: number } | null {
    const key = `${typeof layer === "string" ? layer : layer.name}/${track}`;
    return this.placeOf(key) ?? this.beside?.placeOf(key) ?? null;
  }

  private placeOf(key: string): { y: number; height: number } | null {
    const strip = stripsByTrack(this.parts.tracks).get(key);
    return strip ? { y: this.toScreen(strip.y), height: strip.height } : null;
  }

  /** The rows on screen. */
  visibleRows(): PlacedRow[] {
    const { tracks, scroll, height, top } = this.parts;
    const [first, last] = rowsBetween(tracks, scroll, scroll + height - top);
    return tracks.rows.slice(first, last);
  }

  /** The row at a y of the canvas. */
  rowAt(y: number): PlacedRow | null {
    const { top, height, scroll, tracks } = this.parts;
    if (y < top || y >= height) return null;
    const at = y - top + scroll;
    return tracks.rows[rowsBetween(tracks, at, at + 1)[0]] ?? null;
  }

  /** The strip at a point of the canvas. */
  stripAt(x: number, y: number): PlacedStrip | null {
    const { gutter, top, height, scroll, tracks } = this.parts;
    return x < gutter || y < top || y >= height ? null : stripAt(tracks, y - top + scroll);
  }
}

const indices = new WeakMap<TrackLayout, Map<string, PlacedStrip>>();

/** The strip of each track as `<layer>/<track>`, also of tracks that are drawn in place of others; made once per layout. */
function stripsByTrack(tracks: TrackLayout): Map<string, PlacedStrip> {
  let index = indices.get(tracks);
  if (!index) {
    index = new Map();
    for (const strip of tracks.rows.flatMap((row) => row.strips)) {
      for (const { layer, track } of strip.instead ? [strip, strip.instead] : [strip]) {
        if (track >= 0) index.set(`${layer.name}/${track}`, strip);
      }
    }
    indices.set(tracks, index);
  }
  return index;
}
