// One picture of a timeline: which time and which lanes stand where.
import type { Range } from "../model/selection";
import type { Track } from "../model/tracks";
import { type LaneLayout, type PlacedRow, type PlacedStrip, rowsBetween, stripAt } from "./lanes";
import type { Ticks } from "./ticks";

export interface FrameParts {
  window: Range;
  width: number;
  height: number;
  /** Width of the labels at the left. */
  gutter: number;
  /** Height of what stands above the lanes. */
  top: number;
  scroll: number;
  /** Pixels of the screen per CSS pixel. */
  ratio: number;
  lanes: LaneLayout;
  unit: "cycles" | "ns";
  clockMhz: number | null;
  /** What shown times count from. */
  origin: number;
  ticks: Ticks;
}

export class Frame {
  readonly plotWidth: number;
  /** The other part of the same picture, where some lanes are pinned: what leads to them is drawn across both. */
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

  /** y on the canvas of a y of the lanes. */
  toScreen(y: number): number {
    return y - this.parts.scroll + this.parts.top;
  }

  /** Where a lane of a track stands on the canvas, perhaps outside of it; null when it is not in the timeline. */
  laneToY(track: Track | string, lane: number): { y: number; height: number } | null {
    const key = `${typeof track === "string" ? track : track.name}/${lane}`;
    return this.placeOf(key) ?? this.beside?.placeOf(key) ?? null;
  }

  private placeOf(key: string): { y: number; height: number } | null {
    const strip = indexOf(this.parts.lanes).get(key);
    return strip ? { y: this.toScreen(strip.y), height: strip.height } : null;
  }

  /** The rows on screen. */
  visibleRows(): PlacedRow[] {
    const { lanes, scroll, height, top } = this.parts;
    const [first, last] = rowsBetween(lanes, scroll, scroll + height - top);
    return lanes.rows.slice(first, last);
  }

  /** The row at a y of the canvas. */
  rowAt(y: number): PlacedRow | null {
    const { top, height, scroll, lanes } = this.parts;
    if (y < top || y >= height) return null;
    const at = y - top + scroll;
    return lanes.rows[rowsBetween(lanes, at, at + 1)[0]] ?? null;
  }

  /** The strip at a point of the canvas. */
  stripAt(x: number, y: number): PlacedStrip | null {
    const { gutter, top, height, scroll, lanes } = this.parts;
    return x < gutter || y < top || y >= height ? null : stripAt(lanes, y - top + scroll);
  }
}

const indices = new WeakMap<LaneLayout, Map<string, PlacedStrip>>();

function indexOf(lanes: LaneLayout): Map<string, PlacedStrip> {
  let index = indices.get(lanes);
  if (!index) {
    index = new Map();
    for (const row of lanes.rows) {
      for (const strip of row.strips) if (strip.lane >= 0) index.set(`${strip.track.name}/${strip.lane}`, strip);
    }
    indices.set(lanes, index);
  }
  return index;
}
