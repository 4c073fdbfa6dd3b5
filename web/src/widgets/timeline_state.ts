// What a timeline shows at the moment: its tracks, how far they are scrolled, what the pointer is over.
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { flipped } from "../base/sets";
import { Frame } from "../draw/frame";
import { dotsPerPixel } from "../draw/painter";
import { isCurve } from "../draw/shares";
import { ticks } from "../draw/ticks";
import { axisHeight, gutterColumns, MINIMAP } from "../draw/time_axis";
import { groupKey, layersOfStrip, layOutTracks, type TimelineRow, type TrackLayout } from "../draw/track_layout";
import { arrange, arrangementOf, type Move } from "../model/arrangement";
import type { Layer, LayerSet, Span } from "../model/layers";
import type { Range } from "../model/selection";
import { axisOrigin, shown } from "../model/timewindow";
import type { Size } from "./canvas";
import { type ArrangedRows, arranged, groupName, type Place } from "./timeline_arrangement";

/** What the pointer is over. */
export interface Hit {
  span: Span | null;
  /** Free time between two spans, when it is known exactly. */
  gap: Range | null;
  layer: Layer;
  track: number;
  row: TimelineRow;
}

/** Rows are at first as high as makes all of them fit, within these; few rows fill the height, up to twice the most. */
export interface RowHeights {
  least: number;
  most: number;
}

/** What a menu is about, and where it opens. */
export interface TrackMenu extends Place {
  x: number;
  y: number;
}

/** What is being dragged. */
export interface DraggedTrack extends Place {
  /** y on the canvas where it would go; null = nowhere. */
  y: number | null;
}

/** Tracks that are being dragged over. */
export interface DraggedArea {
  layer: string;
  tracks: ReadonlySet<number>;
}

/** Least pixels between two times of the axis. */
const TICK_GAP = 95;
/** Heights of rows that the user may choose, in pixels. */
const THINNEST = 1;
const TALLEST = 64;
/** A few rows fill the height, up to so many times the most that rows have otherwise. */
const FILLING = 2;
/** Pinned rows are at least so high, and the line below them is, in pixels. */
const LEAST_PINNED = 12;
const PINNED_EDGE = 3;
/** The share of the height of the tracks that pinned ones take at most. */
const MOST_PINNED = 0.6;
/** The share of the width that labels take at most. */
const MOST_GUTTER = 0.3;

interface TimelineParts {
  set: LayerSet;
  unit: "cycles" | "ns";
  clockMhz: number | null;
  name: string;
  rowHeights: RowHeights;
  firstCurves: RegExp | undefined;
}

const NOTHING_FOLDED: ReadonlySet<string> = new Set();

export class TimelineState {
  readonly rows: Signal<TimelineRow[]> = signal([]);
  readonly rowHeight: Signal<number>;
  readonly scroll = signal(0);
  readonly folded: Signal<ReadonlySet<string>> = signal(new Set<string>());
  /** Size of the canvas; drawings for files have sizes of their own. */
  readonly size: Signal<Size> = signal({ width: 1, height: 1 });
  /** Pointer on the canvas; null = elsewhere. */
  readonly pointer: Signal<{ x: number; y: number } | null> = signal(null);
  /** The interval that is being measured. */
  readonly measuring: Signal<Range | null> = signal(null);
  /** The span that was clicked or reached by keys, when the view does not say which is selected. */
  readonly chosen: Signal<Span | null> = signal(null);
  /** Whether the last picture showed something of every layer, finer or coarser. */
  readonly isDrawn = signal(false);
  /** Whether a part of the last picture is still on its way. */
  readonly isLoading = signal(false);
  /** Shows only tracks whose names match. */
  readonly filter = signal("");
  readonly arranged: ReadonlySignal<ArrangedRows>;
  readonly menu: Signal<TrackMenu | null> = signal(null);
  readonly draggedTrack: Signal<DraggedTrack | null> = signal(null);
  readonly draggedArea: Signal<DraggedArea | null> = signal(null);
  /** The flag whose name and colour are being changed. */
  readonly flag: Signal<string | null> = signal(null);
  readonly panelIsOpen = signal(false);
  /** Whether the height of rows was chosen by the widget, which then goes on choosing it. */
  private isFitted = true;
  /** Tracks that stand on top and do not scroll. */
  readonly pinnedTracks: ReadonlySignal<TrackLayout>;
  readonly tracks: ReadonlySignal<TrackLayout>;
  readonly frame: ReadonlySignal<Frame>;
  readonly hit: ReadonlySignal<Hit | null>;

  readonly set: LayerSet;
  readonly unit: "cycles" | "ns";
  readonly clockMhz: number | null;
  /** Under which its arrangement is stored. */
  readonly name: string;
  /** Names of the curves that stand below the tracks at first. */
  readonly firstCurves: RegExp | undefined;
  private readonly firstHeight: RowHeights;

  constructor({ set, unit, clockMhz, name, rowHeights, firstCurves }: TimelineParts) {
    this.set = set;
    this.unit = unit;
    this.clockMhz = clockMhz;
    this.name = name;
    this.firstCurves = firstCurves;
    this.firstHeight = rowHeights;
    this.rowHeight = signal(rowHeights.most);
    this.arranged = computed(() => arranged(this.rows.value, arrangementOf(name), this.filter.value));
    this.pinnedTracks = computed(() =>
      layOutTracks(this.arranged.value.pinned, Math.max(LEAST_PINNED, this.rowHeight.value), NOTHING_FOLDED),
    );
    this.tracks = computed(() => layOutTracks(this.arranged.value.rest, this.rowHeight.value, this.folded.value));
    this.frame = computed(() => this.frameFor(this.size.value));
    this.hit = computed(() => this.hitAt(this.pointer.value));
  }

  get axisY(): number {
    return MINIMAP;
  }

  /** The layout of a picture of some size: of its tracks that scroll; `beside` has those that are pinned. */
  frameFor({ width, height }: Size): Frame {
    const tracks = this.tracks.value;
    const pinned = this.pinnedTracks.value;
    const gutter = this.columnsFor(width).reduce((a, b) => a + b, 0);
    const window = shown.value;
    const axisEnd = MINIMAP + axisHeight(this.unit, this.clockMhz);
    const room = Math.max(0, height - axisEnd) * MOST_PINNED;
    const top = axisEnd + (pinned.rows.length ? Math.floor(Math.min(room, pinned.height + PINNED_EDGE)) : 0);
    const origin = axisOrigin.value;
    const leastStep = this.unit === "cycles" ? 1 : 0;
    const parts = {
      window,
      width,
      height,
      gutter,
      top,
      scroll: Math.min(this.scroll.value, Math.max(0, tracks.height - (height - top))),
      ratio: dotsPerPixel(),
      tracks,
      unit: this.unit,
      clockMhz: this.clockMhz,
      origin,
      ticks: ticks(window.begin, window.end, Math.max(1, width - gutter), TICK_GAP, { origin, leastStep }),
    };
    const frame = new Frame(parts);
    if (top > axisEnd) {
      const fixed = new Frame({ ...parts, tracks: pinned, top: axisEnd, height: top - PINNED_EDGE, scroll: 0 });
      [frame.beside, fixed.beside] = [fixed, frame];
    }
    return frame;
  }

  /** The parts of a picture from top to bottom: pinned tracks, where there are some, and those that scroll. */
  static framesOf(frame: Frame): Frame[] {
    return frame.beside ? [frame.beside, frame] : [frame];
  }

  /** The part of the picture that a y lies in. */
  frameAt(y: number): Frame {
    const frame = this.frame.value;
    return frame.beside && y < frame.beside.parts.height ? frame.beside : frame;
  }

  columnsFor(width: number): number[] {
    return gutterColumns(
      this.tracks.value,
      width * MOST_GUTTER,
      this.pinnedTracks.value.rows.map(({ row }) => row.label),
    );
  }

  /** How far the tracks can be scrolled. */
  get scrollable(): number {
    const { height, top } = this.frame.value.parts;
    return Math.max(0, this.tracks.value.height - (height - top));
  }

  scrollBy(pixels: number): void {
    this.scroll.value = Math.min(Math.max(0, this.scroll.value + pixels), this.scrollable);
  }

  /** Make rows taller or thinner, keeping the track at a y of the canvas where it is. */
  resizeRows(factor: number, aroundY: number): void {
    const old = this.rowHeight.value;
    const next = Math.min(TALLEST, Math.max(THINNEST, factor > 1 ? Math.ceil(old * factor) : Math.floor(old * factor)));
    if (next === old) return;
    this.isFitted = false;
    const above = aroundY - this.frame.value.parts.top;
    const scroll = this.frame.value.parts.scroll;
    this.rowHeight.value = next;
    this.scroll.value = Math.min(Math.max(0, ((scroll + above) * next) / old - above), this.scrollable);
  }

  /** Choose the height of rows so that as many as possible are on screen, and few of them fill it. */
  fit(): void {
    const { height } = this.frame.peek().parts;
    const top = (this.frame.peek().beside ?? this.frame.peek()).parts.top;
    const tracks = this.tracks.peek();
    const pinned = this.pinnedTracks.peek().rows.length;
    const count = tracks.rows.filter((row) => row.folded === null).length + pinned;
    if (!count || height <= top) return;
    const rest = tracks.height - (count - pinned) * this.rowHeight.peek() + (pinned ? PINNED_EDGE : 0);
    const { least, most } = this.firstHeight;
    const fitting = Math.floor((height - top - rest) / count);
    this.rowHeight.value = Math.min(FILLING * most, Math.max(least, fitting));
    this.isFitted = true;
  }

  /** After the place or the tracks have changed: tracks fill the height again, unless the user chose theirs. */
  refit(): void {
    if (this.isFitted) this.fit();
  }

  pin(row: TimelineRow, isPinned: boolean): void {
    const { pinned } = arrangementOf(this.name);
    const others = pinned.filter((key) => key !== row.key);
    arrange(this.name, { pinned: isPinned ? [...others, row.key] : others });
  }

  isPinned(row: TimelineRow): boolean {
    return arrangementOf(this.name).pinned.includes(row.key);
  }

  /** Hide a row, or one of its groups. */
  hide({ row, level }: Place): void {
    const name = level >= row.path.length ? row.key : groupName(row.path, level);
    arrange(this.name, { hidden: [...arrangementOf(this.name).hidden, name] });
  }

  move(move: Move | null): void {
    if (move) arrange(this.name, { moves: [...arrangementOf(this.name).moves, move] });
  }

  /** All tracks, in their places. */
  restore(): void {
    this.filter.value = "";
    arrange(this.name, { pinned: [], hidden: [], moves: [] });
  }

  /** The row as the view gave it: pinned ones have lost their groups. */
  rowOf(key: string): TimelineRow | null {
    return this.rows.peek().find((row) => row.key === key) ?? null;
  }

  fold(key: string): void {
    this.folded.value = flipped(this.folded.value, key);
  }

  /** Scroll a track into view. */
  revealTrack(layer: Layer, track: number): void {
    let frame = this.frame.value;
    const isIt = (strip: { layer: Layer; track: number }) => strip.layer === layer && strip.track === track;
    if (this.folded.value.size && !frame.trackToY(layer, track)) {
      const row = this.rows.value.find((each) => each.strips.some(isIt));
      const around = row?.path.map((_, level) => groupKey(row.path, level)) ?? [];
      this.folded.value = new Set([...this.folded.value].filter((key) => !around.includes(key)));
      frame = this.frame.value;
    }
    const place = frame.trackToY(layer, track);
    if (!place) return;
    const { top, height } = frame.parts;
    if (frame.beside && place.y < top && place.y + place.height <= frame.beside.parts.height) return;
    if (place.y >= top && place.y + place.height <= height) return;
    this.scroll.value = frame.parts.scroll;
    this.scrollBy(place.y - (top + height) / 2);
  }

  /** Layers that have a track on screen. */
  visibleLayers(frame: Frame): Set<Layer> {
    const rows = TimelineState.framesOf(frame).flatMap((part) => part.visibleRows());
    const spans = rows.flatMap((row) => row.strips.filter((strip) => !isCurve(strip, frame.timePerPixel)));
    return new Set(spans.flatMap(layersOfStrip));
  }

  private hitAt(pointer: { x: number; y: number } | null): Hit | null {
    if (!pointer || this.measuring.value || this.draggedTrack.value) return null;
    void this.set.store.turn.value;
    const frame = this.frameAt(pointer.y);
    const strip = frame.stripAt(pointer.x, pointer.y);
    if (!strip) return null;
    const time = frame.xToTime(pointer.x);
    const { layer, track } = strip.instead ?? strip;
    const { row } = strip;
    const span = track < 0 ? null : this.set.spanAt({ layer, track, time }, frame.timePerPixel, frame.detail);
    const gap = span || track < 0 ? null : this.set.gapAt({ layer, track, time });
    return { span, gap, layer, track, row };
  }
}
