// Tracks of spans on the shared time axis: scrolls, zooms, measures, selects. Any layers, in any arrangement of rows.
import { signal, untracked, useComputed, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { isForPage } from "../base/keys";
import type { Frame } from "../draw/frame";
import { inside, uncovered } from "../draw/loading";
import type { Painter } from "../draw/painter";
import { timeText } from "../draw/ticks";
import type { SpanStyle } from "../draw/timeline_spans";
import { THIN, type TimelineRow } from "../draw/track_layout";
import { selectedTracks } from "../model/area";
import { cursor } from "../model/curves";
import type { Layer, LayerSet, Span, Track } from "../model/layers";
import { addFlag, flags, goToFlag } from "../model/notes";
import { type Range, selection } from "../model/selection";
import { fitTime } from "../model/timewindow";
import { Canvas, type Paint, type Size } from "./canvas";
import { type Offer, pictures } from "./saving";
import "./timeline.css";
import { FlagBox, ListButton, TrackMenuBox, TracksPanel } from "./timeline_controls";
import { TimelineCurves } from "./timeline_curves";
import { TimelineInput } from "./timeline_input";
import {
  chosenSpan,
  countedLayer,
  countedText,
  markedRange,
  overviewLayer,
  paintMarks,
  paintTracks,
} from "./timeline_picture";
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

const USUAL_HEIGHTS: RowHeights = { least: 4, most: 18 };

export function Timeline(props: TimelineProps) {
  const { set, label, handle } = props;
  /** What is called later reads the props of the latest drawing. */
  const latest = useRef(props);
  latest.current = props;
  const state = useTimelineState(props);
  const events = useEvents(state, latest);
  const { paint, paintTop } = usePictures(state, latest);
  if (handle) {
    handle.paint = (painter, size) => {
      paint(painter, size);
      paintTop(painter, size);
    };
    handle.size = () => state.size.peek();
  }
  const sizer = useRef<HTMLDivElement>(null);
  useSize(state, sizer);
  useRevealed(state, props.reveal ?? props.focus);
  useCursor(state);
  useFlagKeys(state);
  useSignalEffect(() => {
    const isThin = state.rowHeight.value < THIN;
    if (latest.current.handle) latest.current.handle.isThin.value = isThin;
  });
  useSignalEffect(() => {
    latest.current.onHover?.(state.hit.value?.span ?? null);
  });
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
        <Facts state={state} label={label} counted={(range) => countedText(state, latest.current, range)} />
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

/** The state of the timeline, which stays as long as it shows the same layers; its tiles are released at the end. */
function useTimelineState(props: TimelineProps): TimelineState {
  const { set, unit, label, rows } = props;
  const clockMhz = props.clockMhz ?? null;
  const state = useMemo(() => {
    const { rowHeights = USUAL_HEIGHTS, firstCurves } = props;
    return new TimelineState({ set, unit, clockMhz, name: label, rowHeights, firstCurves });
  }, [set, unit, clockMhz, label]);
  state.rows.value = rows;
  useSignalEffect(() => {
    void state.arranged.value;
    if (state.size.peek().width > 1) state.refit(); // before it has a size there is nothing to fit
  });
  useEffect(() => () => set.store.release(state), [set, state]);
  return state;
}

type Latest = { readonly current: TimelineProps };

/** The listeners of the canvas. */
function useEvents(state: TimelineState, latest: Latest) {
  return useMemo(() => {
    const choose = (span: Span | null, isByKey: boolean) => {
      state.chosen.value = span;
      latest.current.onSpan?.(span, isByKey);
    };
    const chosen = () => chosenSpan(state, latest.current);
    const isTaken = (x: number, y: number) => latest.current.onPlace?.(x, y) ?? false;
    const input = new TimelineInput(state, choose, chosen, isTaken);
    return {
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
    };
  }, [state]);
}

/** The tracks, and what lies over them and changes often: two canvases, so that spans are not drawn again with the pointer. */
function usePictures(state: TimelineState, latest: Latest): { paint: Paint; paintTop: Paint } {
  const hasRange = useComputed(() => markedRange(state) !== undefined);
  const paint: Paint = (painter, size) => {
    void state.set.store.turn.value;
    const frame = state.frameFor(size);
    const shownSize = state.size.value;
    const isScreen = size.width === shownSize.width && size.height === shownSize.height; // not a file
    if (isScreen) {
      const view = latest.current;
      want(state, frame, [overviewLayer(state, view), hasRange.value ? countedLayer(state, view) : null]);
      noteLoading(state, frame);
    }
    paintTracks(painter, frame, state, latest.current);
  };
  const paintTop: Paint = (painter, size) => paintMarks(painter, state.frameFor(size), state, latest.current);
  return { paint, paintTop };
}

/** Scrolls to a track when another one is wanted, and to the selected tracks. */
function useRevealed(state: TimelineState, wanted: { layer: Layer; track: number } | null | undefined): void {
  useEffect(() => {
    if (wanted) state.revealTrack(wanted.layer, wanted.track);
  }, [wanted?.layer, wanted?.track, state]);
  useSignalEffect(() => {
    const area = selectedTracks();
    const layer = area ? state.set.layer(area.layer) : undefined;
    const first = area ? Math.min(...area.tracks) : 0;
    if (layer) untracked(() => state.revealTrack(layer, first));
  });
}

/** Tells other views over time where the pointer is. */
function useCursor(state: TimelineState): void {
  const hadPointer = useRef(false);
  useSignalEffect(() => {
    const pointer = state.pointer.value;
    const frame = state.frame.value;
    const isInside = pointer !== null && pointer.x >= frame.parts.gutter;
    if (isInside) cursor.value = frame.xToTime(pointer.x);
    else if (hadPointer.current) cursor.value = null;
    hadPointer.current = isInside;
  });
}

function useSize(state: TimelineState, sizer: RefObject<HTMLDivElement | null>): void {
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
  const now = set.tilesFor(layers, frame.window, frame.detail);
  const half = (end - begin) / 2;
  const beside = set.tilesFor(layers, { begin: begin - half, end: end + half }, frame.detail);
  set.store.want(state, [...now, ...beside]);
}

/** Whether a part of the picture is still on its way, and whether everything in it has at least something coarse. */
function noteLoading(state: TimelineState, frame: Frame): void {
  const layers = [...state.visibleLayers(frame)];
  const piecesOf = (layer: Layer) => state.set.pieces(layer, frame.window, frame.detail);
  state.isLoading.value = layers.some(
    (layer) => layer.level_count > 0 && uncovered(piecesOf(layer), inside(frame.window, layer)).length > 0,
  );
  state.isDrawn.value = layers.every((layer) => piecesOf(layer).length > 0);
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
