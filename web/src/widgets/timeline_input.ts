// Pointer, wheel and keys of a timeline.
import type { PlacedGroup } from "../draw/lanes";
import { HEADING } from "../draw/lanes";
import { MINIMAP } from "../draw/time_axis";
import { type Range, select, selection } from "../model/selection";
import { bounds, pan, reveal, show, showAll, shown, zoom } from "../model/timewindow";
import type { Span } from "../model/tracks";
import type { TimelineState } from "./timeline_state";

const STEP = 1.25;
const READABLE = 16;
const LEAST_DRAG = 4;

type Drag =
  | { kind: "measure"; from: number; x: number; hasMoved: boolean }
  | { kind: "move"; x: number; y: number; window: Range; scroll: number }
  | { kind: "minimap"; offset: number };

export class TimelineInput {
  private drag: Drag | null = null;
  private suppressClick = false;

  constructor(
    private readonly state: TimelineState,
    /** Called with the span that was chosen; null = nothing is there. */
    private readonly choose: (span: Span | null, isByKey: boolean) => void,
    /** The selected span. */
    private readonly chosen: () => Span | null,
  ) {}

  private place(event: MouseEvent): { x: number; y: number } {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  readonly down = (event: PointerEvent): void => {
    const { x, y } = this.place(event);
    const frame = this.state.frame.value;
    this.state.pointer.value = { x, y };
    (event.currentTarget as HTMLElement).focus({ preventScroll: true });
    this.suppressClick = false;
    if (x < frame.parts.gutter && y >= MINIMAP) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    if (y < MINIMAP) {
      const time = this.minimapTime(x);
      const { begin, end } = shown.value;
      const offset = time >= begin && time <= end ? time - begin : (end - begin) / 2;
      this.drag = { kind: "minimap", offset };
      this.showFrom(time - offset);
    } else if (event.button === 0) {
      this.drag = { kind: "measure", from: frame.xToTime(x), x, hasMoved: false };
    } else {
      const scroll = frame.parts.scroll;
      this.drag = { kind: "move", x: event.clientX, y: event.clientY, window: shown.value, scroll };
    }
  };

  readonly move = (event: PointerEvent): void => {
    const { x, y } = this.place(event);
    this.state.pointer.value = { x, y };
    const drag = this.drag;
    if (!drag) return;
    const frame = this.state.frame.value;
    if (drag.kind === "minimap") this.showFrom(this.minimapTime(x) - drag.offset);
    else if (drag.kind === "move") {
      const by = (event.clientX - drag.x) * frame.timePerPixel;
      show({ begin: drag.window.begin - by, end: drag.window.end - by });
      this.state.scroll.value = drag.scroll;
      this.state.scrollBy(drag.y - event.clientY);
    } else {
      if (Math.abs(x - drag.x) >= LEAST_DRAG) drag.hasMoved = true;
      if (drag.hasMoved) this.state.measuring.value = this.measured(drag.from, frame.xToTime(x));
    }
  };

  readonly up = (event: PointerEvent): void => {
    const drag = this.drag;
    this.drag = null;
    if (drag?.kind === "measure" && drag.hasMoved) {
      const range = this.measured(drag.from, this.state.frame.value.xToTime(this.place(event).x));
      this.state.measuring.value = null;
      this.suppressClick = true;
      if (range.end > range.begin) select({ range });
    } else if (drag && drag.kind !== "measure") this.suppressClick = true;
  };

  readonly leave = (): void => {
    if (!this.drag) this.state.pointer.value = null;
  };

  readonly click = (event: MouseEvent): void => {
    if (this.suppressClick) return;
    // Clicks come in whole pixels, pointers do not: what was read under the pointer is what is chosen.
    const { x, y } = this.state.pointer.value ?? this.place(event);
    const group = this.groupAt(x, y);
    if (group) {
      this.state.fold(group.key);
      return;
    }
    const frame = this.state.frame.value;
    const strip = frame.stripAt(x, y);
    if (!strip || strip.lane < 0) return;
    void this.chooseAt(strip.track, strip.lane, frame.xToTime(x), frame.timePerPixel);
  };

  readonly doubleClick = (event: MouseEvent): void => {
    const { x, y } = this.place(event);
    const frame = this.state.frame.value;
    const strip = frame.stripAt(x, y);
    const time = frame.xToTime(x);
    const span =
      strip && strip.lane >= 0
        ? this.state.set.at(strip.track, strip.lane, time, frame.timePerPixel, frame.detail)
        : null;
    const { range } = selection.value;
    if (span) {
      this.zoomTo(span);
      if (this.state.rowHeight.value < READABLE) this.state.resizeRows(READABLE / this.state.rowHeight.value, y);
    } else if (range && time >= range.begin && time <= range.end) this.zoomTo(range);
  };

  readonly menu = (event: MouseEvent): void => event.preventDefault();

  readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { x, y } = this.place(event);
    const { state } = this;
    const frame = state.frame.value;
    const lines = event.deltaMode === 1 ? 16 : 1;
    const [sideways, down] = [event.deltaX * lines, event.deltaY * lines];
    const isSideways = event.shiftKey || Math.abs(sideways) > Math.abs(down);
    if (event.ctrlKey || event.metaKey) this.zoomBy(down, x);
    else if (event.altKey) state.resizeRows(down < 0 ? STEP : 1 / STEP, y);
    else if (isSideways) pan((sideways || down) / frame.plotWidth);
    else if (y < frame.parts.top || state.scrollable === 0) this.zoomBy(down, x);
    else state.scrollBy(down);
  };

  readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
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
        showAll();
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
        select({ range: undefined });
        return true;
      case "ArrowLeft":
      case "ArrowRight":
        this.step(key === "ArrowRight" ? 1 : -1);
        return true;
      case "ArrowUp":
      case "ArrowDown":
        this.stepLane(key === "ArrowDown" ? 1 : -1);
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
    void this.state.set.neighbour(from, by).then((next) => {
      if (next) this.take(next, true);
    });
  }

  private stepLane(by: 1 | -1): void {
    const from = this.chosen();
    if (!from) {
      this.state.scrollBy(by * 40);
      return;
    }
    const strips = this.state.lanes.value.rows.flatMap((row) =>
      row.strips.filter((strip) => strip.track === from.track && strip.lane >= 0),
    );
    const next = strips[strips.findIndex((strip) => strip.lane === from.lane) + by];
    if (next) void this.chooseAt(next.track, next.lane, from.begin, this.state.frame.value.timePerPixel, true);
  }

  /** Choose the span at a time; of a group on screen, or nearest to the time, by its raw record. */
  private async chooseAt(track: Span["track"], lane: number, time: number, slack: number, isNearest = false) {
    const { set } = this.state;
    const seen = set.at(track, lane, time, slack, this.state.frame.value.detail);
    if (!seen && !isNearest) return this.choose(null, false);
    if (seen?.count === 1) return this.take(seen, isNearest);
    const found = await set.raw(track, lane, time, isNearest ? Number.POSITIVE_INFINITY : slack).catch(() => null);
    this.take(found ?? seen, isNearest);
  }

  private take(span: Span | null, isByKey: boolean): void {
    this.choose(span, isByKey);
    if (!span) return;
    reveal(span.begin);
    this.state.revealLane(span.track, span.lane);
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

  private zoomBy(delta: number, x: number): void {
    const frame = this.state.frame.value;
    zoom(1.0018 ** Math.min(Math.max(delta, -300), 300), frame.xToTime(Math.max(x, frame.parts.gutter)));
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
    const frame = this.state.frame.value;
    const { gutter, top, lanes, scroll, width } = frame.parts;
    if (y < top) return null;
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
    for (const group of lanes.groups) {
      if (group.level === 0 && at >= group.y && at < group.y + HEADING && (x < gutter || !group.isFolded)) return group;
      if (x < gutter && group.level > 0 && group.level === level && at >= group.y && at < group.y + group.height) {
        return group;
      }
    }
    return null;
  }
}
