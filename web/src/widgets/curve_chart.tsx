// Any set of curves over time: chart, legend with values, and the gestures that all of them share.
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import {
  BELOW_UNIT,
  ChartFrame,
  GUTTER,
  type LegendEntry,
  legendHeight,
  paintAxes,
  paintBand,
  paintCurve,
  paintLegend,
  paintLength,
  paintLine,
  type ValueRange,
  valueRange,
} from "../draw/curves";
import { inside, paintLoadingText, uncoveredByBins } from "../draw/loading";
import type { Painter } from "../draw/painter";
import { colourOf as meaningColour, paper, seriesColour } from "../draw/palette";
import { largestSum, paintStack, paintStripNames, paintStrips, type Shape } from "../draw/stacks";
import { type Bins, type CurveSeries, type CurveSet, CurveTiles, cursor } from "../model/curves";
import { clockMhz, timeUnit } from "../model/document";
import { flags } from "../model/notes";
import { selectedTime } from "../model/selected_time";
import { type Range, selection } from "../model/selection";
import { bounds, shown } from "../model/timewindow";
import { Canvas, type Size } from "./canvas";
import "./curve_chart.css";
import { chartEvents } from "./curve_input";
import { CurveLegend } from "./curve_legend";
import { csv, type Offer, pictures, SaveMenu } from "./saving";

export interface CurveChartProps {
  set: CurveSet;
  /** What it shows, in words, and the name of saved files. */
  label: string;
  fileName: string;
  /** What stands at the left of the toolbar: filters. */
  children?: ComponentChildren;
  colour?: (series: CurveSeries, number: number) => string;
  /** The series are parts of a whole: list their shares. */
  areParts?: boolean;
  /** The axis of values begins at zero; default: it does. */
  fromZero?: boolean;
  /** How the curves stand to each other; default: lines. */
  shape?: Shape;
  isHiddenAtFirst?: (series: CurveSeries) => boolean;
  isSelected?: (series: CurveSeries) => boolean;
  onSelect?: (series: CurveSeries) => void;
}

/** How long the pointer must rest before exact values are asked for. */
const EXACT_AFTER_MS = 40;

/** What the gestures of a chart change, besides the time on screen, which all charts share. */
export interface ChartView {
  /** Where things stand on the last picture. */
  frame: { current: ChartFrame | null };
  /** The values that were zoomed to; null = all. */
  values: Signal<ValueRange | null>;
  /** The interval that is being dragged over; null = none. */
  measuring: Signal<Range | null>;
}

export function CurveChart(props: CurveChartProps) {
  const { set, label, fileName } = props;
  const tiles = useMemo(() => new CurveTiles(set), [set]);
  useEffect(() => () => tiles.close(), [tiles]);
  const hidden = useSignal<Set<number>>(new Set());
  useMemo(() => {
    hidden.value = new Set(set.series.flatMap((series, number) => (props.isHiddenAtFirst?.(series) ? [number] : [])));
  }, [set]);
  const values = useSignal<ValueRange | null>(null);
  const measuring = useSignal<Range | null>(null);
  const frame = useRef<ChartFrame | null>(null);
  const size = useRef<Size>({ width: 800, height: 300 });
  const events = useMemo(() => chartEvents({ frame, values, measuring }), [tiles]);
  useExactValues(tiles);

  const colourOf = (number: number) =>
    props.colour?.(set.series[number] as CurveSeries, number) ?? seriesColour(number);
  /** Made when the canvas draws, so that it draws again when one of these changes. */
  const picture = (): Picture => ({
    tiles,
    shape: props.shape ?? "lines",
    fromZero: props.fromZero ?? true,
    visible: set.series.map((_, number) => number).filter((number) => !hidden.value.has(number)),
    colourOf,
    values: values.value,
    range: measuring.value ?? selection.value.range,
  });
  const paint = (painter: Painter, area: Size) => {
    size.current = area;
    const drawn = paintChart(painter, area, picture());
    frame.current = drawn;
    const time = cursor.value;
    if (time !== null && time >= drawn.window.begin && time <= drawn.window.end) {
      paintLine(painter, drawn, { time, colour: paper("text"), isDotted: true });
    }
  };
  const plotPixels = () => frame.current?.plotWidth ?? size.current.width - GUTTER;
  const offers: Offer[] = [
    ...pictures(
      (painter, area) => paintSaved(painter, area, picture()),
      () => savedSize(size.current, picture()),
    ),
    { format: "csv", make: () => tableOf(tiles, plotPixels()) },
  ];
  return (
    <div class="view curve-view">
      <div class="toolbar">
        {props.children}
        {values.value ? (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              values.value = null;
            }}
          >
            Reset values
          </button>
        ) : null}
        {tiles.problem.value ? <span>no finer detail: {tiles.problem.value.what}</span> : null}
        <SaveMenu name={fileName} offers={offers} />
      </div>
      <div class="curve-body">
        <div class="curve-canvas" title={HINT}>
          <Canvas paint={paint} label={label} events={events} />
        </div>
        <CurveLegend {...props} tiles={tiles} hidden={hidden} colourOf={colourOf} pixels={plotPixels} />
      </div>
    </div>
  );
}

/** What a chart draws. */
interface Picture {
  tiles: CurveTiles;
  shape: Shape;
  fromZero: boolean;
  /** Numbers of the series that are not hidden. */
  visible: number[];
  colourOf: (series: number) => string;
  /** The range of values that the user zoomed to; null = that of all values. */
  values: ValueRange | null;
  /** The interval that is being measured, or else the selected one. */
  range: Range | undefined;
}

/** The range of values: of lines and strips that of single values, of a stack that of their sums. */
function valuesOf({ tiles, shape, fromZero, visible }: Picture, width: number): ValueRange {
  if (shape !== "stacked") return wholeRange(tiles, visible, fromZero);
  // the tile of the whole time has means of long bins: what is on screen may be higher
  const whole = tiles.whole();
  const all = whole ? [{ tile: whole, first: 0, last: whole.count }] : [];
  return valueRange(0, largestSum([...all, ...tiles.inWindow(shown.value, width - GUTTER)], visible), true);
}

function frameFor(size: Size, picture: Picture): ChartFrame {
  const { unit } = picture.tiles.set;
  return new ChartFrame({
    ...size,
    window: shown.value,
    values: picture.values ?? valuesOf(picture, size.width),
    clockMhz: clockMhz(),
    unit: timeUnit(),
    ...(unit ? { top: BELOW_UNIT } : {}),
  });
}

/** Everything but what follows the pointer. */
function paintChart(painter: Painter, size: Size, picture: Picture): ChartFrame {
  const { tiles, shape, visible, range } = picture;
  const { set } = tiles;
  const frame = frameFor(size, picture);
  const bins = tiles.inWindow(shown.value, frame.plotWidth);
  paintAxes(painter, frame, { start: bounds.value.begin, unit: set.unit, hasValues: shape !== "strips" });
  painter.clipped(frame.left, frame.top - 2, frame.plotWidth, frame.plotHeight + 3, () => {
    const paintSelected = () => range && paintBand(painter, frame, range, paper("accent"));
    // the selected time lies behind lines, and over areas, which would cover it
    if (shape === "lines") paintSelected();
    paintShape(painter, frame, bins, picture);
    const missing = uncoveredByBins(bins, inside(shown.value, set));
    paintLoadingText(painter, missing, (time) => frame.x(time), frame.top + frame.plotHeight / 2);
    if (shape !== "lines") paintSelected();
    const instant = selectedTime.value;
    if (instant !== null) paintLine(painter, frame, { time: instant, colour: meaningColour("instant") });
    for (const { time, colour } of flags.value) paintLine(painter, frame, { time, colour: seriesColour(colour) });
    if (range) paintLength(painter, frame, range);
  });
  if (shape === "strips") {
    const labels = visible.map((number) => set.series[number]?.label ?? "");
    paintStripNames(painter, frame, labels);
  }
  return frame;
}

function paintShape(painter: Painter, frame: ChartFrame, bins: Bins[], { shape, visible, colourOf }: Picture): void {
  if (shape === "stacked") paintStack(painter, frame, { bins, series: visible, colourOf });
  else if (shape === "strips") paintStrips(painter, frame, { bins, series: visible, colourOf });
  else for (const series of visible) paintCurve(painter, frame, { bins, series, colour: colourOf(series) });
}

/** The names and colours of the visible series: a saved picture has them below the chart. */
function legendOf({ tiles, visible, colourOf }: Picture): LegendEntry[] {
  return visible.map((number) => ({ label: tiles.set.series[number]?.label ?? "", colour: colourOf(number) }));
}

function paintSaved(painter: Painter, { width, height }: Size, picture: Picture): void {
  const legend = legendOf(picture);
  const legendTop = height - legendHeight(legend, width);
  paintChart(painter, { width, height: legendTop }, picture);
  paintLegend(painter, legend, legendTop, width);
}

function savedSize({ width, height }: Size, picture: Picture): Size {
  return { width, height: height + legendHeight(legendOf(picture), width) };
}

const HINT =
  "Wheel: zoom time; Ctrl+wheel: zoom values; drag: select a time range; right drag or Shift+wheel: move; double click: all";

/** Ask for exact values soon after the pointer has come to rest. */
export function useExactValues(tiles: CurveTiles): void {
  const at = cursor.value;
  useEffect(() => {
    if (at === null) return;
    const timer = setTimeout(() => tiles.wantExact(at), EXACT_AFTER_MS);
    return () => clearTimeout(timer);
  }, [tiles, at]);
}

/** The range of all values of the visible series over the whole time: it does not jump when the window moves. */
export function wholeRange(tiles: CurveTiles, visible: number[], fromZero: boolean): ValueRange {
  const tile = tiles.whole();
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const series of tile ? visible : []) {
    for (let i = 0; tile && i < tile.count; i++) {
      const [least, most] = [tile.low[series * tile.count + i], tile.high[series * tile.count + i]];
      if (isKnown(least)) low = Math.min(low, least);
      if (isKnown(most)) high = Math.max(high, most);
    }
  }
  return valueRange(low, high, fromZero);
}

const isKnown = (value: number | undefined): value is number => value !== undefined && !Number.isNaN(value);

/** What is on screen, bin by bin. */
function tableOf(tiles: CurveTiles, pixels: number): string {
  const rows: (string | number)[][] = [];
  for (const { tile, begin, width, first, last } of tiles.inWindow(shown.value, pixels)) {
    tiles.set.series.forEach(({ label }, series) => {
      for (let i = first; i < last; i++) {
        const at = series * tile.count + i;
        rows.push([label, begin + i * width, width, ...[tile.mean, tile.low, tile.high].map((v) => v[at] as number)]);
      }
    });
  }
  return csv(["series", `start_${timeUnit()}`, `length_${timeUnit()}`, "mean", "low", "high"], rows);
}
