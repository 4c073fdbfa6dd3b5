// Pointer, wheel and keys of a timeline.

import { flagAt } from "../draw/flags";
import { MINIMAP } from "../draw/time_axis";
import type { PlacedGroup, Strip, TimelineRow } from "../draw/track_layout";
import { groupKey, HEADING } from "../draw/track_layout";
import { tracksText } from "../model/area";
import type { Span } from "../model/layers";
import { addFlag, flags, goToFlag } from "../model/notes";
import { type Range, select, selection } from "../model/selection";
import { bounds, fitTime, pan, reveal, show, shown, zoom } from "../model/timewindow";
import { frontView } from "../model/view";
import { moveOf, rowsBeside } from "./timeline_arrangement";
import { type DraggedArea, TimelineState } from "./timeline_state";

const STEP = 1.25;
const READABLE = 16;
const LEAST_DRAG = 4;

/** Per pixel that a wheel reports. */
const WHEEL = 1.0018;
/** Trackpads report a pinch as small steps of a wheel with Ctrl. */
const PINCH = 1.025;
export const LARGEST_PINCH_STEP = 40;

interface Point {
  x: number;
  y: number;
}

type Drag =
  | { kind: "measure"; from: number; x: number; y: number; hasMoved: boolean; isOfTracks: boolean }
  | { kind: "track"; row: TimelineRow; level: number; y: number; hasMoved: boolean }
  | { kind: "pinch" }
  | { kind: "move"; x: number; y: number; window: Range; scroll: number }
  | { kind: "minimap"; offset: number };

export class TimelineInput {
  private drag: Drag | null = null;
  private suppressClick = false;
  /** Fingers on the screen. */
  private readonly touches = new Map<number, Point>();

  constructor(
    private readonly state: TimelineState,
    /** Called with the span that was chosen; null = nothing is there. */
    private readonly choose: (span: Span | null, isByKey: boolean) => void,
    /** The selected span. */
    private readonly chosen: () => Span | null,
    /** Whether a click at a point was for something that lies over the spans. */
    private readonly isTaken: (x: number, y: number) => boolean = () => false,
  ) {}

  private place(event: MouseEvent): { x: number; y: number } {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  readonly down = (event: PointerEvent): void => {
    const { x, y } = this.place(event);
    const { state } = this;
    const frame = state.frame.value;
    const box = event.currentTarget as HTMLElement;
    state.pointer.value = { x, y };
    box.focus({ preventScroll: true });
    this.suppressClick = false;
    if (event.pointerType === "touch") {
      this.touches.set(event.pointerId, { x, y });
      if (this.touches.size === 2) {
        this.drag = { kind: "pinch" };
        state.measuring.value = null;
        state.draggedArea.value = null;
        return;
      }
    }
    if (x < frame.parts.gutter && y >= MINIMAP) {
      const place = event.button === 0 ? this.trackPlace(x, y) : null;
      if (place) this.drag = { kind: "track", ...place, y, hasMoved: false };
      if (place) box.setPointerCapture(event.pointerId);
      return;
    }
    box.setPointerCapture(event.pointerId);
    if (y < MINIMAP) {
      const time = this.minimapTime(x);
      const { begin, end } = shown.value;
      const offset = time >= begin && time <= end ? time - begin : (end - begin) / 2;
      this.drag = { kind: "minimap", offset };
      this.showFrom(time - offset);
    } else if (event.button === 0) {
      const isOfTracks = y >= this.axisEnd;
      this.drag = { kind: "measure", from: frame.xToTime(x), x, y, hasMoved: false, isOfTracks };
    } else {
      const scroll = frame.parts.scroll;
      this.drag = { kind: "move", x: event.clientX, y: event.clientY, window: shown.value, scroll };
    }
  };

  readonly move = (event: PointerEvent): void => {
    const { x, y } = this.place(event);
    const { state } = this;
    state.pointer.value = { x, y };
    const drag = this.drag;
    if (!drag) return;
    const frame = state.frame.value;
    if (drag.kind === "pinch") this.pinch(event.pointerId, { x, y });
    else if (drag.kind === "minimap") this.showFrom(this.minimapTime(x) - drag.offset);
    else if (drag.kind === "move") {
      const by = (event.clientX - drag.x) * frame.timePerPixel;
      show({ begin: drag.window.begin - by, end: drag.window.end - by });
      state.scroll.value = drag.scroll;
      state.scrollBy(drag.y - event.clientY);
    } else if (drag.kind === "track") {
      if (Math.abs(y - drag.y) >= LEAST_DRAG) drag.hasMoved = true;
      if (drag.hasMoved) {
        const target = this.dropPlace(drag, y);
        state.draggedTrack.value = { row: drag.row, level: drag.level, y: target?.y ?? null };
      }
    } else {
      if (Math.abs(x - drag.x) >= LEAST_DRAG) drag.hasMoved = true;
      if (drag.hasMoved) {
        state.measuring.value = this.measured(drag.from, frame.xToTime(x));
        state.draggedArea.value = drag.isOfTracks ? this.tracksBetween(drag.y, y) : null;
      }
    }
  };

  readonly up = (event: PointerEvent): void => {
    const drag = this.drag;
    const { state } = this;
    this.touches.delete(event.pointerId);
    if (drag?.kind === "pinch") {
      this.suppressClick = true;
      if (!this.touches.size) this.drag = null;
      return;
    }
    this.drag = null;
    const { x, y } = this.place(event);
    if (drag?.kind === "measure") {
      if (!drag.hasMoved) return;
      const range = this.measured(drag.from, state.frame.value.xToTime(x));
      const area = drag.isOfTracks ? this.tracksBetween(drag.y, y) : null;
      state.measuring.value = null;
      state.draggedArea.value = null;
      this.suppressClick = true;
      const tracks = area ? tracksText(area.layer, area.tracks) : undefined;
      if (range.end > range.begin) select({ range, tracks });
    } else if (drag?.kind === "track") {
      if (!drag.hasMoved) return;
      this.suppressClick = true;
      state.draggedTrack.value = null;
      const target = this.dropPlace(drag, y);
      if (target) state.move(target.move);
    } else if (drag) this.suppressClick = true;
  };

  readonly cancel = (event: PointerEvent): void => {
    this.touches.delete(event.pointerId);
    this.drag = null;
    this.state.measuring.value = null;
    this.state.draggedArea.value = null;
    this.state.draggedTrack.value = null;
  };

  /** Two fingers: what is under each of them stays under it, sideways; both together scroll the tracks. */
  private pinch(id: number, next: Point): void {
    const old = this.touches.get(id);
    const other = [...this.touches].find(([touch]) => touch !== id)?.[1];
    if (!old || !other) return;
    this.touches.set(id, next);
    const frame = this.state.frame.value;
    const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
    const [before, after] = [distance(old, other), distance(next, other)];
    const middle = (a: Point) => (a.x + other.x) / 2;
    if (before > 8 && after > 8) zoom(before / after, frame.xToTime(Math.max(middle(old), frame.parts.gutter)));
    pan((middle(old) - middle(next)) / frame.plotWidth);
    this.state.scrollBy((old.y - next.y) / 2);
  }

  readonly leave = (): void => {
    if (!this.drag) this.state.pointer.value = null;
  };

  readonly click = (event: MouseEvent): void => {
    if (this.suppressClick) return;
    // Clicks come in whole pixels, pointers do not: what was read under the pointer is what is chosen.
    const { x, y } = this.state.pointer.value ?? this.place(event);
    if (this.isTaken(x, y)) return;
    const group = this.groupAt(x, y);
    if (group) {
      this.state.fold(group.key);
      return;
    }
    const frame = this.state.frameAt(y);
    if (y >= MINIMAP && y < this.axisEnd && x >= frame.parts.gutter) {
      this.state.flag.value = flagAt(frame, flags.value, x)?.id ?? addFlag(frame.xToTime(x));
      return;
    }
    const strip = frame.stripAt(x, y);
    if (!strip || strip.track < 0) return;
    void this.chooseAt(strip, frame.xToTime(x), frame.timePerPixel);
  };

  readonly doubleClick = (event: MouseEvent): void => {
    const { x, y } = this.place(event);
    const frame = this.state.frameAt(y);
    const strip = frame.stripAt(x, y);
    const time = frame.xToTime(x);
    const span =
      strip && strip.track >= 0 ? this.state.set.spanAt({ ...strip, time }, frame.timePerPixel, frame.detail) : null;
    const { range } = selection.value;
    if (span) {
      this.zoomTo(span);
      if (this.state.rowHeight.value < READABLE) this.state.resizeRows(READABLE / this.state.rowHeight.value, y);
    } else if (range && time >= range.begin && time <= range.end) this.zoomTo(range);
  };

  /** The label of a track has a menu; elsewhere the right button moves. */
  readonly menu = (event: MouseEvent): void => {
    event.preventDefault();
    const { x, y } = this.place(event);
    if (x < this.state.frame.value.parts.gutter) this.openMenu(x, y);
  };

  private openMenu(x: number, y: number): void {
    const place = this.trackPlace(x, y);
    if (place) this.state.menu.value = { ...place, x, y };
  }

  /** The menu of the track of the selected span, of the one under the pointer, or of the first on screen. */
  private openMenuByKey(): void {
    const { state } = this;
    const frame = state.frame.value;
    const span = this.chosen();
    const place = span ? frame.trackToY(span.layer, span.track) : null;
    const pointer = state.pointer.value;
    const isOnTrack = pointer && state.frameAt(pointer.y).rowAt(pointer.y);
    const first = TimelineState.framesOf(frame).flatMap((part) => part.visibleRows().map(({ y }) => part.toScreen(y)));
    const y = place ? place.y + 1 : isOnTrack ? pointer.y : Math.max(this.axisEnd, first[0] ?? 0) + 1;
    this.openMenu(frame.parts.gutter - 2, y);
  }

  readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { x, y } = this.place(event);
    const { state } = this;
    const frame = state.frame.value;
    const lines = event.deltaMode === 1 ? 16 : 1;
    const [sideways, down] = [event.deltaX * lines, event.deltaY * lines];
    const isSideways = event.shiftKey || Math.abs(sideways) > Math.abs(down);
    if (event.ctrlKey || event.metaKey) this.zoomBy(down, x, event.ctrlKey && event.deltaMode === 0);
    else if (event.altKey) state.resizeRows(down < 0 ? STEP : 1 / STEP, y);
    else if (isSideways) pan((sideways || down) / frame.plotWidth);
    else if (y < frame.parts.top || state.scrollable === 0) this.zoomBy(down, x);
    else state.scrollBy(down);
  };

  readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      event.preventDefault();
      this.openMenuByKey();
      return;
    }
    const around = this.state.pointer.value?.x ?? this.state.frame.value.parts.width;
    const handled = this.handle(event.key.length === 1 ? event.key.toLowerCase() : event.key, around);
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
  };

  private handle(key: string, x: number): boolean {
    const { state } = this;
    const frame = state.frame.value;
    const around = frame.xToTime(Math.min(Math.max(x, frame.parts.gutter), frame.parts.width));
    const middle = state.pointer.value ? around : (shown.value.begin + shown.value.end) / 2;
    switch (key) {
      case "w":
        zoom(1 / 1.5, middle);
        return true;
      case "s":
        zoom(1.5, middle);
        return true;
      case "a":
        pan(-0.2);
        return true;
      case "d":
        pan(0.2);
        return true;
      case "0":
      case "Home":
        fitTime();
        return true;
      case "m":
        state.flag.value = addFlag(middle);
        return true;
      case ",":
      case ".":
        goToFlag(key === "." ? 1 : -1);
        return true;
      case "Enter":
        if (!selection.value.range) return false;
        frontView(state.unit === "ns" ? "run_area" : "area");
        return true;
      case "f": {
        const target = selection.value.range ?? this.chosen();
        if (target) this.zoomTo(target);
        return target !== null;
      }
      case "+":
      case "=":
        state.resizeRows(STEP, state.pointer.value?.y ?? 0);
        return true;
      case "-":
        state.resizeRows(1 / STEP, state.pointer.value?.y ?? 0);
        return true;
      case "Escape":
        if (!selection.value.range) return false;
        select({ range: undefined, tracks: undefined });
        return true;
      case "ArrowLeft":
      case "ArrowRight":
        this.step(key === "ArrowRight" ? 1 : -1);
        return true;
      case "ArrowUp":
      case "ArrowDown":
        this.stepTrack(key === "ArrowDown" ? 1 : -1);
        return true;
      case "PageUp":
      case "PageDown":
        state.scrollBy((key === "PageDown" ? 0.8 : -0.8) * frame.parts.height);
        return true;
      default:
        return false;
    }
  }

  private step(by: 1 | -1): void {
    const from = this.chosen();
    if (!from) {
      pan(by * 0.2);
      return;
    }
    void this.state.set.neighbourOf(from, by).then((next) => {
      if (next) this.take(next, true);
    });
  }

  private stepTrack(by: 1 | -1): void {
    const from = this.chosen();
    if (!from) {
      this.state.scrollBy(by * 40);
      return;
    }
    const { tracks, pinnedTracks } = this.state;
    const strips = [...pinnedTracks.value.rows, ...tracks.value.rows].flatMap((row) =>
      row.strips.filter((strip) => strip.layer === from.layer && strip.track >= 0),
    );
    const next = strips[strips.findIndex((strip) => strip.track === from.track) + by];
    if (next) void this.chooseAt(next, from.begin, this.state.frame.value.timePerPixel, true);
  }

  /**
   * Choose the span of a strip at a time. A group on screen, the span nearest to the time, and a span that another layer
   * is drawn for (nothing has loaded it) are looked up in the raw records.
   */
  private async chooseAt({ layer, track, instead }: Strip, time: number, slack: number, isNearest = false) {
    const { set } = this.state;
    const seen = set.spanAt({ layer, track, time }, slack, this.state.frame.value.detail);
    if (!seen && !isNearest && !instead) return this.choose(null, false);
    if (seen?.count === 1) return this.take(seen, isNearest);
    const found = await set
      .rawSpanAt({ layer, track, time }, isNearest ? Number.POSITIVE_INFINITY : slack)
      .catch(() => null);
    this.take(found ?? seen, isNearest);
  }

  private take(span: Span | null, isByKey: boolean): void {
    this.choose(span, isByKey);
    if (!span) return;
    reveal(span.begin);
    this.state.revealTrack(span.layer, span.track);
  }

  private measured(from: number, to: number): Range {
    const whole = bounds.value;
    const round = (time: number) => Math.round(Math.min(Math.max(time, whole.begin), whole.end));
    return { begin: round(Math.min(from, to)), end: round(Math.max(from, to)) };
  }

  private zoomTo({ begin, end }: Range): void {
    const margin = (end - begin) * 0.1;
    show({ begin: begin - margin, end: end + margin });
  }

  private zoomBy(delta: number, x: number, mayBePinch = false): void {
    const frame = this.state.frame.value;
    zoom(wheelFactor(delta, mayBePinch), frame.xToTime(Math.max(x, frame.parts.gutter)));
  }

  private get axisEnd(): number {
    const frame = this.state.frame.value;
    return (frame.beside ?? frame).parts.top;
  }

  /** The tracks between two places of the canvas: those of the layer that most of the rows have first. */
  private tracksBetween(from: number, to: number): DraggedArea | null {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const rows = TimelineState.framesOf(this.state.frame.value).flatMap((part) =>
      part.visibleRows().filter(({ y, height }) => {
        const at = part.toScreen(y);
        return at < last + 1 && at + height > first && at < part.parts.height && at + height > part.parts.top;
      }),
    );
    const strips = rows.flatMap((row) => row.strips.filter((strip) => strip.track >= 0));
    const counts = new Map<string, number>();
    for (const { layer, fixed } of strips) {
      if (fixed === undefined) counts.set(layer.name, (counts.get(layer.name) ?? 0) + 1);
    }
    const layer = [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
    if (layer === undefined) return null;
    return { layer, tracks: new Set(strips.filter((s) => s.layer.name === layer).map(({ track }) => track)) };
  }

  /** The track, or the group of tracks, whose label is at a place. */
  private trackPlace(x: number, y: number): { row: TimelineRow; level: number } | null {
    const { state } = this;
    const group = this.groupAt(x, y);
    if (group) {
      const row = state.arranged.value.rest.find(({ path }) => groupKey(path, group.level) === group.key);
      return row ? { row, level: group.level } : null;
    }
    const placed = state.frameAt(y).rowAt(y);
    const row = placed ? state.rowOf(placed.row.key) : null;
    return row ? { row, level: row.path.length } : null;
  }

  /** Where a dragged track would go: the move, and the y of the edge. */
  private dropPlace(drag: { row: TimelineRow; level: number }, y: number) {
    const { state } = this;
    const frame = state.frame.value;
    // Below the last track a track goes to the end.
    const target = frame.rowAt(y) ?? (y >= frame.parts.top ? frame.parts.tracks.rows.at(-1) : undefined);
    const row = target ? state.rowOf(target.row.key) : null;
    if (!target || !row) return null;
    const { rest } = state.arranged.value;
    const beside = new Set(rowsBeside(drag.row, row, rest));
    const placed = frame.parts.tracks.rows.filter((each) => beside.has(each.row));
    const [first = target, last = target] = [placed[0], placed.at(-1)];
    // Groups may be higher than the screen: the halves are those of what is seen of them.
    const top = Math.max(frame.toScreen(first.y), frame.parts.top);
    const bottom = Math.min(frame.toScreen(last.y + last.height), frame.parts.height);
    const isAfter = y > (top + bottom) / 2;
    const move = moveOf(drag.row, drag.level, row, isAfter, rest);
    return move ? { move, y: isAfter ? bottom : top } : null;
  }

  private minimapTime(x: number): number {
    const frame = this.state.frame.value;
    const { begin, end } = bounds.value;
    return begin + ((x - frame.parts.gutter) / frame.plotWidth) * (end - begin);
  }

  private showFrom(begin: number): void {
    show({ begin, end: begin + shown.value.end - shown.value.begin });
  }

  /** The group whose heading or column is at a point. */
  private groupAt(x: number, y: number): PlacedGroup | null {
    const frame = this.state.frameAt(y);
    const { gutter, top, tracks, scroll, width } = frame.parts;
    if (y < top || !tracks.groups.length) return null;
    const at = y - top + scroll;
    const columns = this.state.columnsFor(width);
    let left = 0;
    let level = 0;
    for (let i = 0; i < columns.length - 1; i++) {
      left += columns[i] as number;
      if (x < left) {
        level = i + 1;
        break;
      }
    }
    for (const group of tracks.groups) {
      if (group.level === 0 && at >= group.y && at < group.y + HEADING && (x < gutter || !group.isFolded)) return group;
      if (x < gutter && group.level > 0 && group.level === level && at >= group.y && at < group.y + group.height) {
        return group;
      }
    }
    return null;
  }
}

/** How much one event of a wheel, or of a pinch on a trackpad, zooms: below 1 = closer. */
export function wheelFactor(delta: number, mayBePinch: boolean): number {
  if (mayBePinch && Math.abs(delta) <= LARGEST_PINCH_STEP) return PINCH ** delta;
  return WHEEL ** Math.min(Math.max(delta, -300), 300);
}
