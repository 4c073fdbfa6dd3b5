// Lanes of spans on the shared time axis: scrolls, zooms, measures, selects. Any tracks, in any arrangement of rows.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted as quantity } from "../base/format";
import type { Frame } from "../draw/frame";
import type { TimelineRow } from "../draw/lanes";
import { outline, paintCursor, paintRange } from "../draw/measure";
import type { Painter } from "../draw/painter";
import { paper } from "../draw/palette";
import { timeText } from "../draw/ticks";
import { paintAxis, paintGutter, paintMinimap, paintScroll } from "../draw/time_axis";
import { paintGrid, paintSpans, type SpanStyle } from "../draw/timeline_spans";
import { type Range, selection } from "../model/selection";
import { bounds, showAll } from "../model/timewindow";
import type { Lane, Span, Track, TrackSet } from "../model/tracks";
import { Canvas, type Paint, type Size } from "./canvas";
import { type Offer, pictures } from "./saving";
import "./timeline.css";
import { TimelineInput } from "./timeline_input";
import { type RowHeights, TimelineState } from "./timeline_state";
import { TimelineTooltip } from "./timeline_tooltip";

export interface TimelineProps extends SpanStyle {
  /** What is shown, for those who cannot see it: "Waves of the traced compute unit". */
  label: string;
  set: TrackSet;
  rows: TimelineRow[];
  unit: "cycles" | "ns";
  clockMhz?: number | null;
  /** Height of rows in pixels: the most of it that lets all rows fit. */
  rowHeights?: RowHeights;
  /** The track of the overview strip; absent = that of the first row. */
  overviewTrack?: Track | undefined;
  /** What the spans of the overview track are called when they are counted: "instructions". */
  countedAs?: string;
  /** Further lines of the tooltip of a single span. */
  tooltipOf?: ((span: Span) => string[] | Promise<string[]>) | undefined;
  /** A span was clicked, or reached by keys; null = a click where there is none. */
  onSpan?: ((span: Span | null, isByKey: boolean) => void) | undefined;
  onHover?: ((span: Span | null) => void) | undefined;
  /** The selected span, when the view knows it better than the last click: outlined and scrolled to. */
  focus?: Span | null | undefined;
  /** A lane that is scrolled to whenever it changes. */
  reveal?: { track: Track; lane: number } | null | undefined;
  /** Drawn over the spans, under the labels; reads signals as it likes. */
  overlay?: ((painter: Painter, frame: Frame) => void) | undefined;
  /** The same for what changes often: it does not make the spans be drawn again. */
  highlight?: ((painter: Painter, frame: Frame) => void) | undefined;
  /** Filled with what the view's SaveMenu needs. */
  handle?: TimelineHandle | undefined;
}

/** The drawing of a timeline, for saving. */
export class TimelineHandle {
  paint: Paint = () => {};
  size: () => Size = () => ({ width: 1, height: 1 });

  offers(): Offer[] {
    return pictures(
      (painter, size) => this.paint(painter, size),
      () => this.size(),
    );
  }
}

/** One row per lane of a track, grouped as the track says. */
export function rowsOfTrack(track: Track, isShown: (lane: Lane) => boolean = () => true): TimelineRow[] {
  return track.lanes.filter(isShown).map((lane) => ({
    key: `${track.name}/${lane.lane}`,
    label: lane.label,
    path: pathOf(lane),
    strips: [{ track, lane: lane.lane }],
  }));
}

function pathOf(lane: Lane): string[] {
  if (lane.group === null || lane.group === undefined) return [];
  return Array.isArray(lane.group) ? lane.group : [lane.group];
}

export function Timeline(props: TimelineProps) {
  const { set, rows, unit, label } = props;
  const clockMhz = props.clockMhz ?? null;
  const latest = useRef(props);
  latest.current = props;
  const state = useMemo(
    () => new TimelineState(set, unit, clockMhz, props.rowHeights ?? { least: 4, most: 18 }),
    [set, unit, clockMhz],
  );
  state.rows.value = rows;
  const chosen = () => (latest.current.focus === undefined ? state.chosen.value : latest.current.focus);
  const input = useMemo(() => {
    const choose = (span: Span | null, isByKey: boolean) => {
      state.chosen.value = span;
      latest.current.onSpan?.(span, isByKey);
    };
    return new TimelineInput(state, choose, chosen);
  }, [state]);
  useEffect(() => () => set.store.release(state), [set, state]);
  useSignalEffect(() => {
    latest.current.onHover?.(state.hit.value?.span ?? null);
  });
  const wanted = props.reveal ?? props.focus;
  useEffect(() => {
    if (wanted) state.revealLane(wanted.track, wanted.lane);
  }, [wanted?.track, wanted?.lane, state]);

  const overviewTrack = () => latest.current.overviewTrack ?? state.rows.value[0]?.strips[0]?.track ?? null;
  const paint: Paint = (painter, size) => {
    void set.store.turn.value;
    const isScreen = size.width === state.size.value.width && size.height === state.size.value.height;
    const frame = state.frameFor(size);
    const track = overviewTrack();
    if (isScreen) {
      want(state, frame, track);
      const tracks = [...state.visibleTracks(frame)];
      state.isDrawn.value = tracks.every((t) => set.pieces(t, frame.window, frame.detail).length > 0);
    }
    paintGrid(painter, frame);
    paintSpans(painter, frame, set, latest.current);
    latest.current.overlay?.(painter, frame);
    paintGutter(painter, frame, state.columnsFor(size.width), rowOf(state, chosen()));
    paintMinimap(painter, frame, set, track, bounds.value);
    paintAxis(painter, frame, state.axisY, bounds.value.begin);
  };
  const paintTop: Paint = (painter, size) => {
    const frame = state.frameFor(size);
    const range = state.measuring.value ?? selection.value.range;
    if (range) paintRange(painter, frame, range, counted(range));
    latest.current.highlight?.(painter, frame);
    const span = chosen();
    const place = span ? frame.laneToY(span.track, span.lane) : null;
    if (span && place) outline(painter, frame, place, span, paper("text"));
    const pointer = state.pointer.value;
    const hit = state.hit.value;
    const hitPlace = hit?.span ? frame.laneToY(hit.track, hit.lane) : null;
    if (hit?.span && hitPlace) outline(painter, frame, hitPlace, hit.span, paper("accent"), 1);
    paintScroll(painter, frame);
    if (pointer) paintCursor(painter, frame, pointer.x, state.axisY);
  };
  const counted = (range: Range): string => {
    const { countedAs } = latest.current;
    const track = overviewTrack();
    if (!countedAs || !track) return "";
    const lanes = state.rows.value.flatMap((row) => row.strips.filter((s) => s.track === track).map((s) => s.lane));
    void set.store.turn.value;
    const { count, isExact } = set.count(track, lanes, range, state.frame.value.detail);
    return `${isExact ? "" : "≈ "}${quantity(count, countedAs)}`;
  };
  const { handle } = props;
  if (handle) {
    handle.paint = (painter, size) => {
      paint(painter, size);
      paintTop(painter, size);
    };
    handle.size = () => state.size.peek();
  }

  const sizer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = sizer.current;
    if (!box) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = box;
      if (!width || !height) return;
      const isFirst = state.size.peek().width === 1;
      state.size.value = { width, height };
      if (isFirst) state.fit();
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, [state]);
  const events = useMemo(
    () => ({
      onPointerDown: input.down,
      onPointerMove: input.move,
      onPointerUp: input.up,
      onPointerLeave: input.leave,
      onClick: input.click,
      onDblClick: input.doubleClick,
      onContextMenu: input.menu,
      onWheel: input.wheel,
      onKeyDown: input.key,
    }),
    [input],
  );
  return (
    <div class="timeline-box" ref={sizer}>
      <div class="timeline" tabIndex={0} role="application" aria-label={label} {...events}>
        <Canvas paint={paint} label="" />
        <div class="timeline-top">
          <Canvas paint={paintTop} label="" />
        </div>
      </div>
      <Facts state={state} label={label} counted={counted} />
      <RowHeightButtons state={state} />
      <TimelineTooltip state={state} tooltipOf={props.tooltipOf} />
      <Trouble set={set} />
    </div>
  );
}

/** Ask for what the picture needs, then for what lies beside it. */
function want(state: TimelineState, frame: Frame, overviewTrack: Track | null): void {
  const { set } = state;
  const tracks = state.visibleTracks(frame);
  if (overviewTrack) tracks.add(overviewTrack);
  const { begin, end } = frame.window;
  const now = set.wanted(tracks, frame.window, frame.detail);
  const half = (end - begin) / 2;
  const beside = set.wanted(tracks, { begin: begin - half, end: end + half }, frame.detail);
  set.store.want(state, [...now, ...beside]);
}

function rowOf(state: TimelineState, span: Span | null): string | null {
  if (!span) return null;
  const isIt = (strip: { track: Track; lane: number }) => strip.track === span.track && strip.lane === span.lane;
  return state.rows.value.find((row) => row.strips.some(isIt))?.key ?? null;
}

/** What is on screen in words and as data: for screen readers, and for tests. */
function Facts({ state, label, counted }: { state: TimelineState; label: string; counted: (range: Range) => string }) {
  const frame = state.frame.value;
  const { begin, end } = frame.window;
  const { unit } = state;
  const { range } = selection.value;
  const lanes = frame.visibleRows();
  const parts = [
    `${label}: ${timeText(begin, unit)} to ${timeText(end, unit)} ${unit}`,
    `${lanes.length} of ${state.lanes.value.rows.length} lanes`,
  ];
  const inRange = range ? counted(range) : "";
  if (range) parts.push(`selected ${timeText(range.begin, unit)} to ${timeText(range.end, unit)}`, inRange);
  return (
    <div
      class="timeline-facts"
      role="img"
      aria-label={parts.filter(Boolean).join(", ")}
      data-begin={begin}
      data-end={end}
      data-gutter={frame.parts.gutter}
      data-top={frame.parts.top}
      data-row-height={state.rowHeight.value}
      data-scroll={frame.parts.scroll}
      data-lanes={lanes.length}
      data-drawn={state.isDrawn.value}
      data-counted={inRange}
      data-lane-count={state.lanes.value.rows.length}
    />
  );
}

function RowHeightButtons({ state }: { state: TimelineState }) {
  const middle = () => state.size.value.height / 2;
  const buttons: [sign: string, title: string, run: () => void][] = [
    ["−", "Thinner lanes (Alt+wheel, −)", () => state.resizeRows(0.7, middle())],
    ["+", "Taller lanes (Alt+wheel, +)", () => state.resizeRows(1.5, middle())],
    ["⤢", "The whole time, and as many lanes as fit (0)", () => showEverything(state)],
  ];
  return (
    <div class="timeline-buttons">
      {buttons.map(([sign, title, run]) => (
        <button type="button" class="quiet" key={sign} title={title} aria-label={title} onClick={run}>
          {sign}
        </button>
      ))}
    </div>
  );
}

function showEverything(state: TimelineState): void {
  showAll();
  state.fit();
}

function Trouble({ set }: { set: TrackSet }) {
  const problem = set.store.problem.value;
  if (!problem) return null;
  return (
    <p class="timeline-trouble" role="alert">
      Some of the detail is missing: {problem.what}
    </p>
  );
}
