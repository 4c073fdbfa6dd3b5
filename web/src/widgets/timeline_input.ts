// Pointer, wheel and keys of a timeline: what a press, a drag, a pinch, a turn of the wheel and each key change in its state,
// in the time on screen and in the selection.

import { flagAt } from "../draw/flags";
import { MINIMAP } from "../draw/time_axis";
import type { PlacedGroup, Strip } from "../draw/track_layout";
import { groupKey, HEADING } from "../draw/track_layout";
import { tracksText } from "../model/area";
import type { Move } from "../model/arrangement";
import type { Span } from "../model/layers";
import { addFlag, flags, goToFlag } from "../model/notes";
import { type Range, select, selection } from "../model/selection";
import { bounds, fitTime, pan, reveal, show, shown, zoom } from "../model/timewindow";
import { frontView } from "../model/view";
import { moveOf, type Place, rowsBeside } from "./timeline_arrangement";
import { type DraggedArea, TimelineState } from "./timeline_state";

/** How much taller one turn of the wheel, or a key, makes rows. */
const ROW_STEP = 1.25;
/** Rows of this height show names, in pixels. */
const READABLE = 16;
/** Pixels that a press must move to be a drag. */
const LEAST_DRAG = 4;
/** How much a key zooms; by which share of what is on screen, of time and of tracks, it moves. */
const KEY_ZOOM = 1.5;
const KEY_PAN = 0.2;
const KEY_PAGE = 0.8;
/** Pixels that an arrow key scrolls while no span is selected. */
const KEY_SCROLL = 40;
/** Pixels of a line, in which some mice count what a wheel turns. */
const WHEEL_LINE = 16;

/** Per pixel that a wheel reports. */
const WHEEL = 1.0018;
/** Pixels of one event beyond which a wheel zooms no faster. */
const MOST_WHEEL = 300;
/** Trackpads report a pinch as small steps of a wheel with Ctrl. */
const PINCH = 1.025;
export const LARGEST_PINCH_STEP = 40;

/** On the canvas. */
interface Point {
  x: number;
  y: number;
}

/** What a press does while the pointer is down. */
interface Drag {
  move: (at: Point, event: PointerEvent) => void;
  /** True = it was a drag: the click that follows it means nothing. */
  end: (at: Point) => boolean;
}

/** A time at which a span is chosen. */
interface Target {
  time: number;
  slack: number;
  isByKey: boolean;
}

export class TimelineInput {
  private drag: Drag | null = null;
  private suppressClick = false;
  /** Fingers on the screen, by the number of their pointer. */
  private readonly touches = new Map<number, Point>();
  /** Two fingers were down: until both are up, nothing else is dragged. */
  private isPinching = false;

  constructor(
    private readonly state: TimelineState,
    /** Called with the span that was chosen; null = nothing is there. */
    private readonly choose: (span: Span | null, isByKey: boolean) => void,
    /** The selected span. */
    private readonly chosen: () => Span | null,
    /** Whether a click at a point was for something that lies over the spans. */
    private readonly isTaken: (x: number, y: number) => boolean = () => false,
  ) {}

  private pointOf(event: MouseEvent): Point {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  readonly down = (event: PointerEvent): void => {
    const at = this.pointOf(event);
    const box = event.currentTarget as HTMLElement;
    this.state.pointer.value = at;
    box.focus({ preventScroll: true });
    this.suppressClick = false;
    if (event.pointerType === "touch") this.touches.set(event.pointerId, at);
    if (this.touches.size >= 2) {
      this.isPinching = true;
      this.forgetDrag();
      return;
    }
    this.drag = this.dragFrom(at, event);
    if (this.drag) box.setPointerCapture(event.pointerId);
  };

  /** What a press at a place drags: the overview, a label, time and tracks, or with another button the picture. */
  private dragFrom(at: Point, event: PointerEvent): Drag | null {
    if (at.y < MINIMAP) return this.dragMinimap(at);
    if (at.x < this.state.frame.value.parts.gutter) return event.button === 0 ? this.dragTrack(at) : null;
    return event.button === 0 ? this.dragRange(at) : this.dragPicture(event);
  }

  readonly move = (event: PointerEvent): void => {
    const at = this.pointOf(event);
    this.state.pointer.value = at;
    if (this.isPinching) this.pinch(event.pointerId, at);
    else this.drag?.move(at, event);
  };

  readonly up = (event: PointerEvent): void => {
    this.touches.delete(event.pointerId);
    if (this.isPinching) {
      this.suppressClick = true;
      this.isPinching = this.touches.size > 0;
      return;
    }
    const { drag } = this;
    this.drag = null;
    if (drag?.end(this.pointOf(event))) this.suppressClick = true;
  };

  readonly cancel = (event: PointerEvent): void => {
    this.touches.delete(event.pointerId);
    this.isPinching = false;
    this.forgetDrag();
  };

  private forgetDrag(): void {
    this.drag = null;
    this.state.measuring.value = null;
    this.state.draggedArea.value = null;
    this.state.draggedTrack.value = null;
  }

  /** Measures time, and selects it: of the tracks between the places, or from the axis on of all. */
  private dragRange(start: Point): Drag {
    const { state } = this;
    const from = state.frame.value.xToTime(start.x);
    const isOfTracks = start.y >= this.axisEnd;
    const rangeTo = (x: number) => this.measured(from, state.frame.value.xToTime(x));
    const areaTo = (y: number) => (isOfTracks ? this.tracksBetween(start.y, y) : null);
    let hasMoved = false;
    return {
      move: ({ x, y }) => {
        hasMoved ||= Math.abs(x - start.x) >= LEAST_DRAG;
        if (!hasMoved) return;
        state.measuring.value = rangeTo(x);
        state.draggedArea.value = areaTo(y);
      },
      end: ({ x, y }) => {
        if (!hasMoved) return false;
        const [range, area] = [rangeTo(x), areaTo(y)];
        state.measuring.value = null;
        state.draggedArea.value = null;
        const tracks = area ? tracksText(area.layer, area.tracks) : undefined;
        if (range.end > range.begin) select({ range, tracks });
        return true;
      },
    };
  }

  /** Moves a track, or a group of tracks, by its label. */
  private dragTrack({ x, y: startY }: Point): Drag | null {
    const { state } = this;
    const place = this.trackPlace(x, startY);
    if (!place) return null;
    let hasMoved = false;
    return {
      move: ({ y }) => {
        hasMoved ||= Math.abs(y - startY) >= LEAST_DRAG;
        if (hasMoved) state.draggedTrack.value = { ...place, y: this.dropPlace(place, y)?.y ?? null };
      },
      end: ({ y }) => {
        if (!hasMoved) return false;
        state.draggedTrack.value = null;
        const target = this.dropPlace(place, y);
        if (target) state.move(target.move);
        return true;
      },
    };
  }

  /** Moves time sideways, and scrolls the tracks. */
  private dragPicture(start: PointerEvent): Drag {
    const { state } = this;
    const { scroll } = state.frame.value.parts;
    const window = shown.value;
    return {
      move: (_, event) => {
        const time = (event.clientX - start.clientX) * state.frame.value.timePerPixel;
        show({ begin: window.begin - time, end: window.end - time });
        state.scroll.value = scroll;
        state.scrollBy(start.clientY - event.clientY);
      },
      end: () => true,
    };
  }

  /** Moves what is shown over the overview; a press beside it brings it there. */
  private dragMinimap({ x: startX }: Point): Drag {
    const time = this.minimapTime(startX);
    const { begin, end } = shown.value;
    const offset = time >= begin && time <= end ? time - begin : (end - begin) / 2;
    const showAt = (x: number) => this.showFrom(this.minimapTime(x) - offset);
    showAt(startX);
    return { move: ({ x }) => showAt(x), end: () => true };
  }

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
    if (!this.drag && !this.isPinching) this.state.pointer.value = null;
  };

  readonly click = (event: MouseEvent): void => {
    if (this.suppressClick) return;
    // Clicks come in whole pixels, pointers do not: what was read under the pointer is what is chosen.
    const { x, y } = this.state.pointer.value ?? this.pointOf(event);
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
    void this.chooseAt(strip, { time: frame.xToTime(x), slack: frame.timePerPixel, isByKey: false });
  };

  readonly doubleClick = (event: MouseEvent): void => {
    const { x, y } = this.pointOf(event);
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
    const { x, y } = this.pointOf(event);
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
    const { x, y } = this.pointOf(event);
    const { state } = this;
    const frame = state.frame.value;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_LINE : 1;
    const [sideways, down] = [event.deltaX * lines, event.deltaY * lines];
    const isSideways = event.shiftKey || Math.abs(sideways) > Math.abs(down);
    if (event.ctrlKey || event.metaKey) this.zoomBy(down, x, event.ctrlKey && event.deltaMode === 0);
    else if (event.altKey) state.resizeRows(down < 0 ? ROW_STEP : 1 / ROW_STEP, y);
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
    const run = this.actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!run || run() === false) return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** The time that keys act on: where the pointer is, else in the middle. */
  private keyTime(): number {
    const { pointer, frame } = this.state;
    if (!pointer.value) return (shown.value.begin + shown.value.end) / 2;
    const { gutter, width } = frame.value.parts;
    return frame.value.xToTime(Math.min(Math.max(pointer.value.x, gutter), width));
  }

  /** What keys do. One that gives `false` does nothing now: it is left to whoever listens next. */
  private readonly actions: Record<string, () => unknown> = {
    w: () => zoom(1 / KEY_ZOOM, this.keyTime()),
    s: () => zoom(KEY_ZOOM, this.keyTime()),
    a: () => pan(-KEY_PAN),
    d: () => pan(KEY_PAN),
    0: fitTime,
    Home: fitTime,
    m: () => {
      this.state.flag.value = addFlag(this.keyTime());
    },
    ",": () => void goToFlag(-1),
    ".": () => void goToFlag(1),
    f: () => {
      const target = selection.value.range ?? this.chosen();
      if (target) this.zoomTo(target);
      return target !== null;
    },
    Enter: () => {
      if (!selection.value.range) return false;
      return frontView(this.state.unit === "ns" ? "run_area" : "area");
    },
    Escape: () => {
      if (!selection.value.range) return false;
      return select({ range: undefined, tracks: undefined });
    },
    "+": () => this.resizeRows(ROW_STEP),
    "=": () => this.resizeRows(ROW_STEP),
    "-": () => this.resizeRows(1 / ROW_STEP),
    ArrowLeft: () => this.step(-1),
    ArrowRight: () => this.step(1),
    ArrowUp: () => this.stepTrack(-1),
    ArrowDown: () => this.stepTrack(1),
    PageUp: () => this.state.scrollBy(-KEY_PAGE * this.state.frame.value.parts.height),
    PageDown: () => this.state.scrollBy(KEY_PAGE * this.state.frame.value.parts.height),
  };

  private resizeRows(factor: number): void {
    this.state.resizeRows(factor, this.state.pointer.value?.y ?? 0);
  }

  /** Choose the span before (-1) or after (1) the selected one in its track; without one, move. */
  private step(by: 1 | -1): void {
    const from = this.chosen();
    if (!from) {
      pan(by * KEY_PAN);
      return;
    }
    void this.state.set.neighbourOf(from, by).then((next) => {
      if (next) this.take(next, true);
    });
  }

  /** Choose the span at the same time in the track above (-1) or below (1); without a selected one, scroll. */
  private stepTrack(by: 1 | -1): void {
    const from = this.chosen();
    if (!from) {
      this.state.scrollBy(by * KEY_SCROLL);
      return;
    }
    const { tracks, pinnedTracks } = this.state;
    const strips = [...pinnedTracks.value.rows, ...tracks.value.rows].flatMap((row) =>
      row.strips.filter((strip) => strip.layer === from.layer && strip.track >= 0),
    );
    const next = strips[strips.findIndex((strip) => strip.track === from.track) + by];
    if (next) void this.chooseAt(next, { time: from.begin, slack: this.state.frame.value.timePerPixel, isByKey: true });
  }

  /**
   * Choose the span of a strip at a time, or less than `slack` beside it; by a key the nearest one. A group on screen, the
   * nearest span, and a span that another layer is drawn for (nothing has loaded it) are looked up in the raw records.
   */
  private async chooseAt({ layer, track, instead }: Strip, { time, slack, isByKey }: Target): Promise<void> {
    const { set } = this.state;
    const place = { layer, track, time };
    const seen = set.spanAt(place, slack, this.state.frame.value.detail);
    if (!seen && !isByKey && !instead) return this.choose(null, false);
    if (seen?.count === 1) return this.take(seen, isByKey);
    const raw = await set.rawSpanAt(place, isByKey ? Number.POSITIVE_INFINITY : slack).catch(() => null);
    this.take(raw ?? seen, isByKey);
  }

  /** Choose a span and bring it onto the screen; null = nothing is there. */
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
  private trackPlace(x: number, y: number): Place | null {
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
  private dropPlace(dragged: Place, y: number): { move: Move; y: number } | null {
    const { state } = this;
    const frame = state.frame.value;
    // Below the last track a track goes to the end.
    const target = frame.rowAt(y) ?? (y >= frame.parts.top ? frame.parts.tracks.rows.at(-1) : undefined);
    const row = target ? state.rowOf(target.row.key) : null;
    if (!target || !row) return null;
    const { rest } = state.arranged.value;
    const beside = new Set(rowsBeside(dragged.row, row, rest));
    const placed = frame.parts.tracks.rows.filter((candidate) => beside.has(candidate.row));
    const [first = target, last = target] = [placed[0], placed.at(-1)];
    // Groups may be higher than the screen: the halves are those of what is seen of them.
    const top = Math.max(frame.toScreen(first.y), frame.parts.top);
    const bottom = Math.min(frame.toScreen(last.y + last.height), frame.parts.height);
    const isAfter = y > (top + bottom) / 2;
    const move = moveOf(dragged, { row, isAfter }, rest);
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
    const trackY = y - top + scroll;
    const isInside = (group: PlacedGroup, height: number) => trackY >= group.y && trackY < group.y + height;
    const column = x < gutter ? this.columnAt(x, width) : 0;
    const group = tracks.groups.find((placed) => {
      // a heading goes over the whole width; that of a folded group has its tracks beside it
      if (placed.level === 0) return isInside(placed, HEADING) && (x < gutter || !placed.isFolded);
      return placed.level === column && isInside(placed, placed.height);
    });
    return group ?? null;
  }

  /** The level of the groups whose column of labels is at an x; 0 = it is that of rows. */
  private columnAt(x: number, width: number): number {
    let right = 0;
    for (const [column, columnWidth] of this.state.columnsFor(width).slice(0, -1).entries()) {
      right += columnWidth;
      if (x < right) return column + 1;
    }
    return 0;
  }
}

/** How much one event of a wheel, or of a pinch on a trackpad, zooms: below 1 = closer. */
export function wheelFactor(delta: number, mayBePinch: boolean): number {
  if (mayBePinch && Math.abs(delta) <= LARGEST_PINCH_STEP) return PINCH ** delta;
  return WHEEL ** Math.min(Math.max(delta, -MOST_WHEEL), MOST_WHEEL);
}
