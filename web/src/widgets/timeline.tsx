// Tracks of spans on the shared time axis: scrolls, zooms, measures, selects. Any layers, in any arrangement of rows.
import { signal, untracked, useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted as quantity } from "../base/format";
import { isForPage } from "../base/keys";
import { paintFlagLines, paintFlags } from "../draw/flags";
import type { Frame } from "../draw/frame";
import { inside, uncovered } from "../draw/loading";
import { measureText, outline, paintCursor, paintRange, trackPlaces } from "../draw/measure";
import type { Painter } from "../draw/painter";
import { paper } from "../draw/palette";
import { timeText } from "../draw/ticks";
import { paintAxis, paintGutter, paintMinimap, paintScroll } from "../draw/time_axis";
import { paintGrid, paintSpans, type SpanStyle } from "../draw/timeline_spans";
import { THIN, type TimelineRow } from "../draw/track_layout";
import { selectedTracks } from "../model/area";
import { cursor } from "../model/curves";
import type { Layer, LayerSet, Span, Track } from "../model/layers";
import { addFlag, flags, goToFlag } from "../model/notes";
import { type Range, selection } from "../model/selection";
import { bounds, fitTime } from "../model/timewindow";
import { Canvas, type Paint, type Size } from "./canvas";
import { type Offer, pictures } from "./saving";
import "./timeline.css";
import { FlagBox, ListButton, TrackMenuBox, TracksPanel } from "./timeline_controls";
import { TimelineCurves } from "./timeline_curves";
import { TimelineInput } from "./timeline_input";
import { type RowHeights, TimelineState } from "./timeline_state";
import { TimelineTooltip } from "./timeline_tooltip";

export interface TimelineProps extends SpanStyle {
  /** What is shown, for those who cannot see it: "Waves of the traced compute unit". */
  label: string;
  set: LayerSet;
  rows: TimelineRow[];
  unit: "cycles" | "ns";
  clockMhz?: number | null;
  /** Height of rows in pixels: the most of it that lets all rows fit. */
  rowHeights?: RowHeights;
  /** The layer of the overview strip; absent = that of the first row. */
  overviewLayer?: Layer | undefined;
  /** What the spans of the counted layer, or else of the overview, are called when they are counted: "instructions". */
  countedAs?: string;
  countedLayer?: Layer;
  /** Further lines of the tooltip of a single span. */
  tooltipOf?: ((span: Span) => string[] | Promise<string[]>) | undefined;
  /** A span was clicked, or reached by keys; null = a click where there is none. */
  onSpan?: ((span: Span | null, isByKey: boolean) => void) | undefined;
  onHover?: ((span: Span | null) => void) | undefined;
  /** A point was clicked; true = it was for something that the view has drawn over the spans. */
  onPlace?: ((x: number, y: number) => boolean) | undefined;
  /** The selected span, when the view knows it better than the last click: outlined and scrolled to. */
  focus?: Span | null | undefined;
  /** A track that is scrolled to whenever it changes. */
  reveal?: { layer: Layer; track: number } | null | undefined;
  /** Drawn over the spans, under the labels; reads signals as it likes. */
  overlay?: ((painter: Painter, frame: Frame) => void) | undefined;
  /** The same for what changes often: it does not make the spans be drawn again. */
  highlight?: ((painter: Painter, frame: Frame) => void) | undefined;
  /** Curves that stand below the tracks at first, by name. */
  firstCurves?: RegExp | undefined;
  /** Filled with what the view's SaveMenu needs. */
  handle?: TimelineHandle | undefined;
}

/** What a view may know of its timeline: the drawing, for saving, and whether rows are too thin for kinds. */
export class TimelineHandle {
  readonly isThin = signal(false);
  paint: Paint = () => {};
  size: () => Size = () => ({ width: 1, height: 1 });

  offers(): Offer[] {
    return pictures(
      (painter, size) => this.paint(painter, size),
      () => this.size(),
    );
  }
}

/** One row per track of a layer, grouped as the layer says. */
export function rowsOfLayer(layer: Layer, isShown: (track: Track) => boolean = () => true): TimelineRow[] {
  return layer.tracks.filter(isShown).map((track) => ({
    key: `${layer.name}/${track.track}`,
    label: track.label,
    path: pathOf(track),
    strips: [{ layer, track: track.track }],
  }));
}

function pathOf(track: Track): string[] {
  if (track.group === null || track.group === undefined) return [];
  return Array.isArray(track.group) ? track.group : [track.group];
}

export function Timeline(props: TimelineProps) {
  const { set, rows, unit, label } = props;
  const clockMhz = props.clockMhz ?? null;
  const latest = useRef(props);
  latest.current = props;
  const state = useMemo(
    () => new TimelineState(set, unit, clockMhz, props.rowHeights ?? { least: 4, most: 18 }, label, props.firstCurves),
    [set, unit, clockMhz, label],
  );
  state.rows.value = rows;
  useSignalEffect(() => {
    void state.arranged.value;
    if (state.size.peek().width > 1) state.refit();
  });
  const chosen = () => (latest.current.focus === undefined ? state.chosen.value : latest.current.focus);
  const hadPointer = useRef(false);
  const input = useMemo(() => {
    const choose = (span: Span | null, isByKey: boolean) => {
      state.chosen.value = span;
      latest.current.onSpan?.(span, isByKey);
    };
    return new TimelineInput(state, choose, chosen, (x, y) => latest.current.onPlace?.(x, y) ?? false);
  }, [state]);
  useEffect(() => () => set.store.release(state), [set, state]);
  useSignalEffect(() => {
    const isThin = state.rowHeight.value < THIN;
    if (latest.current.handle) latest.current.handle.isThin.value = isThin;
  });
  useSignalEffect(() => {
    latest.current.onHover?.(state.hit.value?.span ?? null);
  });
  const wanted = props.reveal ?? props.focus;
  useEffect(() => {
    if (wanted) state.revealTrack(wanted.layer, wanted.track);
  }, [wanted?.layer, wanted?.track, state]);
  useSignalEffect(() => {
    const area = selectedTracks();
    const layer = area ? set.layer(area.layer) : undefined;
    const first = area ? Math.min(...area.tracks) : 0;
    if (layer) untracked(() => state.revealTrack(layer, first));
  });
  useSignalEffect(() => {
    const pointer = state.pointer.value;
    const frame = state.frame.value;
    const isInside = pointer !== null && pointer.x >= frame.parts.gutter;
    if (isInside) cursor.value = frame.xToTime(pointer.x);
    else if (hadPointer.current) cursor.value = null;
    hadPointer.current = isInside;
  });

  const overviewLayer = () => latest.current.overviewLayer ?? state.rows.value[0]?.strips[0]?.layer ?? null;
  const countedLayer = () => latest.current.countedLayer ?? overviewLayer();
  const range = () => state.measuring.value ?? selection.value.range;
  const hasRange = useComputed(() => range() != null);
  const paint: Paint = (painter, size) => {
    void set.store.turn.value;
    const isScreen = size.width === state.size.value.width && size.height === state.size.value.height;
    const frame = state.frameFor(size);
    const layer = overviewLayer();
    if (isScreen) {
      want(state, frame, [layer, hasRange.value ? countedLayer() : null]);
      const layers = [...state.visibleLayers(frame)];
      const isMissing = (t: Layer) =>
        t.level_count > 0 && uncovered(set.pieces(t, frame.window, frame.detail), inside(frame.window, t)).length > 0;
      state.isLoading.value = layers.some(isMissing);
      state.isDrawn.value = layers.every((t) => set.pieces(t, frame.window, frame.detail).length > 0);
    }
    const chosenRow = rowOf(state, chosen());
    for (const part of TimelineState.framesOf(frame)) {
      paintGrid(painter, part);
      paintSpans(painter, part, set, latest.current);
      latest.current.overlay?.(painter, part);
      const isPinned = part !== frame;
      paintGutter(painter, part, isPinned ? [part.parts.gutter] : state.columnsFor(size.width), chosenRow);
      if (isPinned) painter.rect(0, part.parts.height, size.width, 2, paper("accent"));
    }
    paintMinimap(painter, frame, set, layer, bounds.value);
    paintAxis(painter, frame.beside ?? frame, state.axisY, bounds.value.begin);
  };
  const paintTop: Paint = (painter, size) => {
    const frame = state.frameFor(size);
    const measured = range();
    const area = state.measuring.value ? state.draggedArea.value : selectedTracks();
    const isArea = area !== null && state.rows.value.some((row) => row.strips.some((s) => s.layer.name === area.layer));
    const text = measured
      ? measureText(frame, measured, [isArea ? quantity(area.tracks.size, "tracks") : "", counted(measured)])
      : "";
    const span = chosen();
    const hit = state.hit.value;
    for (const [number, part] of TimelineState.framesOf(frame).entries()) {
      const places = isArea ? trackPlaces(part, area.layer, area.tracks) : null;
      if (measured) paintRange(painter, part, measured, places, number === 0 ? text : "");
      latest.current.highlight?.(painter, part);
      const place = span ? part.trackToY(span.layer, span.track) : null;
      if (span && place) outline(painter, part, place, span, paper("text"));
      const hitPlace = hit?.span ? part.trackToY(hit.layer, hit.track) : null;
      if (hit?.span && hitPlace) outline(painter, part, hitPlace, hit.span, paper("accent"), 1);
      paintFlagLines(painter, part, flags.value);
    }
    paintFlags(painter, frame, flags.value, state.axisY);
    paintScroll(painter, frame);
    const { y: edge = null } = state.draggedTrack.value ?? {};
    if (edge !== null) painter.rect(0, edge - 1, size.width, 3, paper("accent"));
    const at = cursor.value; // of another view over time, or of this one
    if (at !== null && at >= frame.window.begin && at <= frame.window.end) {
      paintCursor(painter, frame, frame.timeToX(at), state.axisY);
    }
  };
  const counted = (range: Range): string => {
    const { countedAs } = latest.current;
    const layer = countedLayer();
    if (!countedAs || !layer || !set.pieces(layer, range, state.frame.value.detail).length) return "";
    const area = state.measuring.value ? state.draggedArea.value : selectedTracks();
    const isOfArea = area?.layer === layer.name;
    const all = state.rows.value.flatMap((row) => row.strips.filter((s) => s.layer === layer).map((s) => s.track));
    const tracks = isOfArea ? all.filter((track) => area.tracks.has(track)) : all;
    void set.store.turn.value;
    const { count, isExact } = set.count(layer, tracks, range, state.frame.value.detail);
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
      state.size.value = { width, height };
      state.refit();
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
      onPointerCancel: input.cancel,
      onPointerLeave: input.leave,
      onClick: input.click,
      onDblClick: input.doubleClick,
      onContextMenu: input.menu,
      onWheel: input.wheel,
      onKeyDown: input.key,
    }),
    [input],
  );
  useFlagKeys(state);
  return (
    <div class="timeline-box">
      <TimelineCurves state={state} arePinned />
      <div class="timeline-tracks" ref={sizer}>
        <div class="timeline" tabIndex={0} role="application" aria-label={label} {...events}>
          <Canvas paint={paint} label="" />
          <div class="timeline-top">
            <Canvas paint={paintTop} label="" />
          </div>
        </div>
        <Facts state={state} label={label} counted={counted} />
        <TimelineButtons state={state} />
        <ListButton state={state} />
        <TracksPanel state={state} />
        <TrackMenuBox state={state} />
        <FlagBox state={state} />
        <TimelineTooltip state={state} tooltipOf={props.tooltipOf} />
        {state.isLoading.value && !set.store.problem.value ? (
          <p class="timeline-loading" role="status">
            Loading… dashed: not here yet
          </p>
        ) : null}
        <Trouble set={set} />
      </div>
      <TimelineCurves state={state} arePinned={false} />
    </div>
  );
}

/** Keys of flags work wherever the pointer is over the tracks, without a click before. */
function useFlagKeys(state: TimelineState): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const pointer = state.pointer.peek();
      const frame = state.frame.peek();
      if (!isForPage(event) || !pointer || pointer.x < frame.parts.gutter) return;
      if (event.key === "m") state.flag.value = addFlag(frame.xToTime(pointer.x));
      else if (event.key === "," || event.key === ".") goToFlag(event.key === "." ? 1 : -1);
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [state]);
}

/** Ask for what the picture needs, then for what lies beside it. */
function want(state: TimelineState, frame: Frame, others: (Layer | null)[]): void {
  const { set } = state;
  const layers = state.visibleLayers(frame);
  for (const other of others) if (other) layers.add(other);
  const { begin, end } = frame.window;
  const now = set.wanted(layers, frame.window, frame.detail);
  const half = (end - begin) / 2;
  const beside = set.wanted(layers, { begin: begin - half, end: end + half }, frame.detail);
  set.store.want(state, [...now, ...beside]);
}

function rowOf(state: TimelineState, span: Span | null): string | null {
  if (!span) return null;
  const isIt = (strip: { layer: Layer; track: number }) => strip.layer === span.layer && strip.track === span.track;
  return state.rows.value.find((row) => row.strips.some(isIt))?.key ?? null;
}

/** What is on screen in words and as data: for screen readers, and for tests. */
function Facts({ state, label, counted }: { state: TimelineState; label: string; counted: (range: Range) => string }) {
  const frame = state.frame.value;
  const { begin, end } = frame.window;
  const { unit } = state;
  const { range } = selection.value;
  const tracks = TimelineState.framesOf(frame).flatMap((part) => part.visibleRows());
  const { rows, pinned, hiddenCount } = { rows: state.tracks.value.rows, ...state.arranged.value };
  const count = rows.length + pinned.length;
  const parts = [
    `${label}: ${timeText(begin, unit)} to ${timeText(end, unit)} ${unit}`,
    `${tracks.length} of ${count} tracks`,
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
      data-tracks={tracks.length}
      data-drawn={state.isDrawn.value}
      data-counted={inRange}
      data-track-count={count}
      data-pinned={pinned.length}
      data-hidden={hiddenCount}
      data-pinned-top={frame.beside?.parts.top ?? frame.parts.top}
      data-flags={flags.value.length}
    />
  );
}

function TimelineButtons({ state }: { state: TimelineState }) {
  const middle = () => state.size.value.height / 2;
  const { hiddenCount, pinned } = state.arranged.value;
  const isArranged = hiddenCount + pinned.length > 0;
  const buttons: [sign: string, title: string, run: () => void][] = [
    ["−", "Thinner tracks (Alt+wheel, −)", () => state.resizeRows(0.7, middle())],
    ["+", "Taller tracks (Alt+wheel, +)", () => state.resizeRows(1.5, middle())],
    ["⤢", "The traced waves, again: the whole time; as many tracks as fit (0)", () => showFitting(state)],
  ];
  return (
    <div class={isArranged || state.panelIsOpen.value ? "timeline-buttons on" : "timeline-buttons"}>
      <button
        type="button"
        class="quiet"
        data-action="tracks"
        aria-expanded={state.panelIsOpen.value}
        title="Filter tracks, restore hidden ones, add curves; the label of a track has a menu"
        onClick={() => {
          state.panelIsOpen.value = !state.panelIsOpen.value;
        }}
      >
        {hiddenCount ? `Tracks (${hiddenCount} hidden)` : "Tracks"}
      </button>
      {buttons.map(([sign, title, run]) => (
        <button type="button" class="quiet" key={sign} title={title} aria-label={title} onClick={run}>
          {sign}
        </button>
      ))}
    </div>
  );
}

function showFitting(state: TimelineState): void {
  fitTime();
  state.fit();
}

function Trouble({ set }: { set: LayerSet }) {
  const problem = set.store.problem.value;
  if (!problem) return null;
  return (
    <p class="timeline-trouble" role="alert">
      Some of the detail is missing: {problem.what}
    </p>
  );
}
