// What a timeline shows at the moment: its lanes, how far they are scrolled, what the pointer is over.
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { Frame } from "../draw/frame";
import { type LaneLayout, layOutLanes, type TimelineRow } from "../draw/lanes";
import { ticks } from "../draw/ticks";
import { axisHeight, gutterColumns, MINIMAP } from "../draw/time_axis";
import type { Range } from "../model/selection";
import { shown } from "../model/timewindow";
import type { Span, Track, TrackSet } from "../model/tracks";
import type { Size } from "./canvas";

/** What the pointer is over. */
export interface Hit {
  span: Span | null;
  /** Free time between two spans, when it is known exactly. */
  gap: Range | null;
  track: Track;
  lane: number;
  row: TimelineRow;
}

/** Rows are at first as high as makes all of them fit, within these. */
export interface RowHeights {
  least: number;
  most: number;
}

const TICK_GAP = 95;
const THINNEST = 1;
const TALLEST = 64;

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
  /** Whether the last picture showed something of every track, finer or coarser. */
  readonly isDrawn = signal(false);
  readonly lanes: ReadonlySignal<LaneLayout>;
  readonly frame: ReadonlySignal<Frame>;
  readonly hit: ReadonlySignal<Hit | null>;

  constructor(
    readonly set: TrackSet,
    readonly unit: "cycles" | "ns",
    readonly clockMhz: number | null,
    private readonly firstHeight: RowHeights,
  ) {
    this.rowHeight = signal(firstHeight.most);
    this.lanes = computed(() => layOutLanes(this.rows.value, this.rowHeight.value, this.folded.value));
    this.frame = computed(() => this.frameFor(this.size.value));
    this.hit = computed(() => this.hitAt(this.pointer.value));
  }

  get axisY(): number {
    return MINIMAP;
  }

  /** The layout of a picture of some size. */
  frameFor({ width, height }: Size): Frame {
    const lanes = this.lanes.value;
    const gutter = this.columnsFor(width).reduce((a, b) => a + b, 0);
    const window = shown.value;
    const top = MINIMAP + axisHeight(this.unit, this.clockMhz);
    const least = this.unit === "cycles" ? 1 : 0;
    return new Frame({
      window,
      width,
      height,
      gutter,
      top,
      scroll: Math.min(this.scroll.value, Math.max(0, lanes.height - (height - top))),
      ratio: typeof devicePixelRatio === "number" ? devicePixelRatio : 1,
      lanes,
      unit: this.unit,
      clockMhz: this.clockMhz,
      ticks: ticks(window.begin, window.end, Math.max(1, width - gutter), TICK_GAP, 0, least),
    });
  }

  columnsFor(width: number): number[] {
    return gutterColumns(this.lanes.value, width * 0.3);
  }

  /** How far the lanes can be scrolled. */
  get scrollable(): number {
    const { height, top } = this.frame.value.parts;
    return Math.max(0, this.lanes.value.height - (height - top));
  }

  scrollBy(pixels: number): void {
    this.scroll.value = Math.min(Math.max(0, this.scroll.value + pixels), this.scrollable);
  }

  /** Make rows taller or thinner, keeping the lane at a y of the canvas where it is. */
  resizeRows(factor: number, aroundY: number): void {
    const old = this.rowHeight.value;
    const next = Math.min(TALLEST, Math.max(THINNEST, factor > 1 ? Math.ceil(old * factor) : Math.floor(old * factor)));
    if (next === old) return;
    const above = aroundY - this.frame.value.parts.top;
    const scroll = this.frame.value.parts.scroll;
    this.rowHeight.value = next;
    this.scroll.value = Math.min(Math.max(0, ((scroll + above) * next) / old - above), this.scrollable);
  }

  /** Choose the height of rows so that as many as possible are on screen. */
  fit(): void {
    const { height, top } = this.frame.peek().parts;
    const lanes = this.lanes.peek();
    if (!lanes.rows.length || height <= top) return;
    const rest = lanes.height - lanes.rows.length * this.rowHeight.peek();
    const { least, most } = this.firstHeight;
    const fitting = Math.floor((height - top - rest) / lanes.rows.length);
    this.rowHeight.value = Math.min(most, Math.max(least, fitting));
    this.scroll.value = 0;
  }

  fold(key: string): void {
    const next = new Set(this.folded.value);
    if (!next.delete(key)) next.add(key);
    this.folded.value = next;
  }

  /** Scroll a lane into view. */
  revealLane(track: Track, lane: number): void {
    const frame = this.frame.value;
    const place = frame.laneToY(track, lane);
    if (!place) return;
    const { top, height } = frame.parts;
    if (place.y >= top && place.y + place.height <= height) return;
    this.scroll.value = frame.parts.scroll;
    this.scrollBy(place.y - (top + height) / 2);
  }

  /** Tracks that have a lane on screen. */
  visibleTracks(frame: Frame): Set<Track> {
    return new Set(frame.visibleRows().flatMap((row) => row.strips.map((strip) => strip.track)));
  }

  private hitAt(pointer: { x: number; y: number } | null): Hit | null {
    if (!pointer || this.measuring.value) return null;
    void this.set.store.turn.value;
    const frame = this.frame.value;
    const strip = frame.stripAt(pointer.x, pointer.y);
    if (!strip) return null;
    const time = frame.xToTime(pointer.x);
    const { track, lane, row } = strip;
    const span = lane < 0 ? null : this.set.at(track, lane, time, frame.timePerPixel, frame.detail);
    const gap = span || lane < 0 ? null : this.set.gap(track, lane, time);
    return { span, gap, track, lane, row };
  }
}
