// Curves beside the tracks of a timeline, on its axis of time: counters, power, clocks, memory, whatever was sampled.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ChartFrame, paintAxes, paintBand, paintCurve, paintLine, type ValueRange } from "../draw/curves";
import { letterWidth, type Painter } from "../draw/painter";
import { paper, seriesColour } from "../draw/palette";
import { arrange, arrangementOf, type CurveStrip } from "../model/arrangement";
import { binAt, type CurveSet, CurveTiles, cursor, curvesOf } from "../model/curves";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { flags } from "../model/notes";
import { type Range, selection } from "../model/selection";
import { bounds, shown } from "../model/timewindow";
import { Canvas, type Size } from "./canvas";
import { useExactValues, wholeRange } from "./curve_chart";
import { chartEvents } from "./curve_input";
import { figure } from "./curve_legend";
import type { TimelineState } from "./timeline_state";

/** One quantity of a set of curves: of each GPU, process, engine or counter a line. */
interface Quantity {
  name: string;
  set: CurveSet;
  /** Numbers of its series in the set. */
  lines: number[];
}

const TITLES: Record<string, string> = {
  busy: "GPUs busy",
  memory: "memory",
  copying: "copies",
  occupancy: "resident waves",
  wave_states: "wave states",
  dispatches: "waves by kernel",
};
/** Sets of which every counter has a strip of its own; the series of other sets share one. */
const SETS_OF_COUNTERS = new Set(["monitors", "counters", "derived"]);
/** Pixels: a line of labels, what the numbers of the axis take at the right of the labels, what buttons take at their left. */
const LINE = 13;
const LEFT_OF_TICKS = 36;
const BUTTONS = 62;
/** Narrower labels are of no use: then they stand on the chart. */
const LEAST_ROOM = 130;
/** Heights of a strip in pixels: at first, folded, and what the user may choose. */
const HEIGHT = 92;
const FOLDED = 20;
const LEAST = 44;
const MOST = 400;
/** Pixels that an arrow key makes a strip taller or lower. */
const KEY_STEP = 16;

/** The series of all sets that are not of one engine, put together by what they measure. */
export function quantitiesOf(sets: CurveSet[]): Quantity[] {
  const quantities = new Map<string, Quantity>();
  for (const set of sets.filter(({ se }) => se === null)) {
    set.series.forEach((series, number) => {
      const counter =
        series.keys.quantity ?? series.keys.counter ?? (SETS_OF_COUNTERS.has(set.name) ? series.label : null);
      const name = TITLES[set.name] ?? String(counter || set.name);
      const quantity = quantities.get(name) ?? { name, set, lines: [] };
      if (quantity.set === set) quantity.lines.push(number); // one chart has the curves of one set
      quantities.set(name, quantity);
    });
  }
  return [...quantities.values()];
}

interface Props {
  state: TimelineState;
}

/** What can be shown, asked for only when it is wanted, and what is. */
function useStrips(state: TimelineState, isWanted: boolean) {
  const { firstCurves: first } = state;
  const { curves } = arrangementOf(state.name);
  const isAsked = isWanted || (curves === null ? first !== undefined : curves.length > 0);
  const answer = useAnswer(isAsked ? curvesOf(current.value) : null);
  const sets = answer.value.state === "ready" ? answer.value.value : null;
  const all = useMemo(() => quantitiesOf(sets ?? []), [sets]);
  const atFirst = first ? all.find(({ set, name }) => set.name === "monitors" && first.test(name)) : undefined;
  const strips: CurveStrip[] = curves ?? (atFirst ? [{ name: atFirst.name }] : []);
  return { all, strips };
}

/** Adds a strip of curves. */
export function CurveChooser({ state }: Props) {
  const { all, strips } = useStrips(state, true);
  const others = all.filter(({ name }) => !strips.some((strip) => strip.name === name));
  if (!others.length) return null;
  return (
    <select
      aria-label="Curves beside the tracks"
      data-choose="strip"
      value=""
      onChange={(change) => {
        const { value } = change.currentTarget;
        if (value) arrange(state.name, { curves: [...strips, { name: value }] });
        change.currentTarget.value = "";
      }}
    >
      <option value="">add a curve</option>
      {others.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

export function TimelineCurves({ state, arePinned }: Props & { arePinned: boolean }) {
  const { all, strips } = useStrips(state, false);
  const change = (name: string, next: Partial<CurveStrip>) =>
    arrange(state.name, { curves: strips.map((strip) => (strip.name === name ? { ...strip, ...next } : strip)) });
  return (
    <>
      {strips
        .filter((strip) => (strip.isPinned ?? false) === arePinned)
        .map((strip) => {
          const quantity = all.find(({ name }) => name === strip.name);
          if (!quantity) return null;
          const close = () => arrange(state.name, { curves: strips.filter(({ name }) => name !== strip.name) });
          const set = (next: Partial<CurveStrip>) => change(strip.name, next);
          return <StripChart key={strip.name} {...{ quantity, strip, state, close, set }} />;
        })}
    </>
  );
}

interface StripProps {
  quantity: Quantity;
  strip: CurveStrip;
  state: TimelineState;
  close: () => void;
  set: (next: Partial<CurveStrip>) => void;
}

function StripChart({ quantity, strip, state, close, set: change }: StripProps) {
  const { set, lines, name } = quantity;
  const tiles = useMemo(() => new CurveTiles(set), [set]);
  useEffect(() => () => tiles.close(), [tiles]);
  const values = useSignal<ValueRange | null>(null);
  const measuring = useSignal<Range | null>(null);
  const dragged = useSignal<number | null>(null);
  const frame = useRef<ChartFrame | null>(null);
  const events = useMemo(() => chartEvents({ frame, values, measuring }), [tiles]);
  useExactValues(tiles);
  const paint = (painter: Painter, { width, height }: Size) => {
    const range = values.value ?? wholeRange(tiles, lines, set.name !== "monitors");
    const tracks = state.frame.value;
    const drawn = new ChartFrame({
      window: shown.value,
      values: range,
      width,
      height: height + AXIS,
      unit: state.unit,
      left: tracks.parts.gutter,
      right: 0,
    });
    frame.current = drawn;
    paintAxes(painter, drawn, { start: bounds.value.begin, unit: set.unit });
    const bins = tiles.inWindow(shown.value, drawn.plotWidth);
    painter.clipped(drawn.left, drawn.top - 2, drawn.plotWidth, drawn.plotHeight + 3, () => {
      const marked = measuring.value ?? selection.value.range;
      if (marked) paintBand(painter, drawn, marked, paper("accent"));
      lines.forEach((series, n) => {
        paintCurve(painter, drawn, { bins, series, colour: seriesColour(n) });
      });
      for (const { time, colour } of flags.value) paintLine(painter, drawn, { time, colour: seriesColour(colour) });
      if (cursor.value !== null) {
        paintLine(painter, drawn, { time: cursor.value, colour: paper("text"), isDotted: true });
      }
    });
    paintNames(painter, quantity, drawn, valuesAt(tiles, drawn, cursor.value));
  };
  const isFolded = strip.isFolded ?? false;
  const height = dragged.value ?? strip.height ?? HEIGHT;
  return (
    <div class="curve-strip" data-strip={name} style={{ height: `${isFolded ? FOLDED : height}px` }}>
      {isFolded ? <span class="strip-name">{name}</span> : <Canvas paint={paint} label={name} events={events} />}
      <StripButtons strip={strip} close={close} set={change} />
      {isFolded ? null : <Grip strip={strip} height={height} dragged={dragged} set={change} />}
    </div>
  );
}

function StripButtons({ strip, close, set }: Pick<StripProps, "strip" | "close" | "set">) {
  const isFolded = strip.isFolded ?? false;
  const [arrow, place] = strip.isPinned ? ["↓", "Below the tracks"] : ["↑", "Above the tracks"];
  const buttons: [sign: string, title: string, run: () => void][] = [
    [isFolded ? "▸" : "▾", isFolded ? "Unfold" : "Fold", () => set({ isFolded: !isFolded })],
    [arrow, place, () => set({ isPinned: !strip.isPinned })],
    ["×", "Close", close],
  ];
  return (
    <div class="strip-buttons">
      {buttons.map(([sign, title, run]) => (
        <button
          type="button"
          class="quiet"
          key={title}
          title={`${title} ${strip.name}`}
          aria-label={`${title} ${strip.name}`}
          onClick={run}
        >
          {sign}
        </button>
      ))}
    </div>
  );
}

interface GripProps extends Pick<StripProps, "strip" | "set"> {
  height: number;
  /** The height while it is being dragged; null = it is not. */
  dragged: Signal<number | null>;
}

/** The edge between a strip and the tracks, which makes the strip taller: below pinned strips, above the others. */
function Grip({ strip, height, dragged, set }: GripProps) {
  const limited = (pixels: number) => Math.min(MOST, Math.max(LEAST, pixels));
  const resize = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    const from = event.clientY;
    const to = (moved: PointerEvent) => limited(height + (moved.clientY - from) * (strip.isPinned ? 1 : -1));
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (moved) => {
      dragged.value = to(moved);
    };
    grip.onpointerup = (moved) => {
      grip.onpointermove = null;
      grip.onpointerup = null;
      dragged.value = null;
      set({ height: Math.round(to(moved)) });
    };
  };
  return (
    <div
      class={strip.isPinned ? "strip-grip below" : "strip-grip"}
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label={`Height of ${strip.name}`}
      aria-valuenow={height}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      onPointerDown={resize}
      onKeyDown={(event) => {
        const step = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP }[event.key];
        if (!step) return;
        event.preventDefault();
        set({ height: limited(height + (strip.isPinned ? -step : step)) });
      }}
    />
  );
}

/** The tracks have the axis of time: that of the chart lies below its edge. */
const AXIS = 15;

/** Of every series its value at a time, as exact as it is at hand. */
function valuesAt(tiles: CurveTiles, frame: ChartFrame, time: number | null): (number | undefined)[] | null {
  if (time === null || time < frame.window.begin || time > frame.window.end) return null;
  const exact = tiles.exactAt(time);
  if (exact) return exact;
  const parts = tiles.inWindow(shown.value, frame.plotWidth);
  return tiles.set.series.map((_, number) => binAt(parts, number, time)?.mean);
}

/** The quantity and its lines with their values at the pointer: left of the axis, or on the chart where that is narrow. */
function paintNames(
  painter: Painter,
  { name, set, lines }: Quantity,
  frame: ChartFrame,
  values: (number | undefined)[] | null,
): void {
  const valueText = (number: number) => (values ? ` ${figure(values[number] ?? Number.NaN)}` : "");
  const labels = lines.map((number) => {
    const label = (set.series[number]?.label ?? "").replace(name, "").trim(); // the name stands above
    return `${label || name}${valueText(number)}`;
  });
  const ink = paper(values ? "text" : "faint");
  const room = frame.left - LEFT_OF_TICKS;
  if (room < LEAST_ROOM) paintNamesInLine(painter, frame, { name, unit: set.unit, labels, ink });
  else paintNamesInColumn(painter, frame, { name, labels, ink, room });
}

/** Beside each other at the head of the chart, behind its unit; what does not fit is left out. */
function paintNamesInLine(
  painter: Painter,
  frame: ChartFrame,
  { name, unit, labels, ink }: { name: string; unit: string; labels: string[]; ink: string },
): void {
  const y = frame.top + 7;
  let x = frame.left + 8 + (unit.length + 2) * letterWidth();
  painter.text(x, y, name, paper("text"));
  x += (name.length + 2) * letterWidth();
  labels.forEach((label, n) => {
    const width = label.length * letterWidth();
    if (x + width > frame.width - 60) return; // where the buttons are
    painter.rect(x, y - 4, 7, 7, seriesColour(n));
    painter.text(x + 10, y, label, ink);
    x += width + 24;
  });
}

/** Below each other, left of the axis; the last line counts those that do not fit. */
function paintNamesInColumn(
  painter: Painter,
  frame: ChartFrame,
  { name, labels, ink, room }: { name: string; labels: string[]; ink: string; room: number },
): void {
  painter.text(BUTTONS, frame.top + 3, name, paper("text"), { maxWidth: room - BUTTONS });
  const lineCount = Math.floor((frame.bottom - frame.top) / LINE) - 1;
  const shownCount = labels.length > lineCount ? lineCount - 1 : labels.length;
  const yOf = (n: number) => frame.top + 4 + (n + 1) * LINE;
  labels.slice(0, shownCount).forEach((label, n) => {
    painter.rect(10, yOf(n) - 4, 7, 7, seriesColour(n));
    painter.text(20, yOf(n), label, ink, { maxWidth: room - 24 });
  });
  if (shownCount < labels.length) {
    const words = `and ${labels.length - shownCount} more`;
    painter.text(20, yOf(shownCount), words, paper("faint"), { maxWidth: room - 24 });
  }
}
