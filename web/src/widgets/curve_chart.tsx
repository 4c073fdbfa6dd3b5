// Any set of curves over time: chart, legend with values, and the gestures that all of them share.
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import {
  BELOW_UNIT,
  ChartFrame,
  GUTTER,
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
import { type CurveSeries, type CurveSet, CurveTiles, cursor } from "../model/curves";
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

const EXACT_AFTER_MS = 40;

/** What one chart is looking at, besides the time window that all share. */
export interface ChartView {
  frame: { current: ChartFrame | null };
  values: Signal<ValueRange | null>;
  measuring: Signal<Range | null>;
}

export function CurveChart(props: CurveChartProps) {
  const { set, label, fileName, fromZero = true } = props;
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
  const view: ChartView = { frame, values, measuring };
  const colourOf = (number: number) =>
    props.colour?.(set.series[number] as CurveSeries, number) ?? seriesColour(number);
  const visible = () => set.series.map((_, number) => number).filter((number) => !hidden.value.has(number));

  useExactValues(tiles);

  const rangeOf = (width: number): ValueRange => {
    if (props.shape !== "stacked") return wholeRange(tiles, visible(), fromZero);
    const whole = tiles.whole();
    const all = whole ? [{ tile: whole, first: 0, last: whole.count }] : [];
    return valueRange(0, largestSum([...all, ...tiles.inWindow(shown.value, width - GUTTER)], visible()), true);
  };
  const frameFor = ({ width, height }: Size) => {
    const range = values.value ?? rangeOf(width);
    const top = set.unit ? BELOW_UNIT : undefined;
    return new ChartFrame({
      window: shown.value,
      values: range,
      width,
      height,
      clockMhz: clockMhz(),
      unit: timeUnit(),
      ...(top === undefined ? {} : { top }),
    });
  };
  const paintChart = (painter: Painter, area: Size) => {
    const drawn = frameFor(area);
    const parts = tiles.inWindow(shown.value, drawn.plotWidth);
    paintAxes(painter, drawn, bounds.value.begin, set.unit, props.shape !== "strips");
    painter.clipped(drawn.left, drawn.top - 2, drawn.plotWidth, drawn.plotHeight + 3, () => {
      const range = measuring.value ?? selection.value.range;
      const isOver = props.shape !== undefined && props.shape !== "lines"; // areas would cover it
      const band = () => range && paintBand(painter, drawn, range, paper("accent"));
      if (!isOver) band();
      if (props.shape === "stacked") paintStack(painter, drawn, parts, visible(), colourOf);
      else if (props.shape === "strips") paintStrips(painter, drawn, parts, visible(), drawn.values, colourOf);
      else {
        for (const number of visible()) paintCurve(painter, drawn, parts, number, colourOf(number));
      }
      paintLoadingText(
        painter,
        uncoveredByBins(parts, inside(shown.value, set)),
        (time) => drawn.x(time),
        drawn.top + drawn.plotHeight / 2,
      );
      if (isOver) band();
      if (selectedTime.value !== null) paintLine(painter, drawn, selectedTime.value, meaningColour("instant"), []);
      for (const { time, colour } of flags.value) paintLine(painter, drawn, time, seriesColour(colour), []);
      if (range) paintLength(painter, drawn, range);
    });
    if (props.shape === "strips") {
      const labels = visible().map((number) => set.series[number]?.label ?? "");
      paintStripNames(painter, drawn, labels);
    }
    return drawn;
  };
  const paint = (painter: Painter, area: Size) => {
    size.current = area;
    const drawn = paintChart(painter, area);
    frame.current = drawn;
    const at = cursor.value;
    if (at !== null && at >= drawn.window.begin && at <= drawn.window.end) {
      paintLine(painter, drawn, at, paper("text"), [2, 3]);
    }
  };
  const plotPixels = () => frame.current?.plotWidth ?? size.current.width - GUTTER;
  const legend = () => visible().map((n) => ({ label: set.series[n]?.label ?? "", colour: colourOf(n) }));
  const saved = (painter: Painter, area: Size) => {
    const below = legendHeight(legend(), area.width);
    paintChart(painter, { width: area.width, height: area.height - below });
    paintLegend(painter, legend(), area.height - below, area.width);
  };
  const savedSize = () => ({
    width: size.current.width,
    height: size.current.height + legendHeight(legend(), size.current.width),
  });
  const events = useMemo(() => chartEvents(view), [tiles]);
  const offers: Offer[] = [...pictures(saved, savedSize), { format: "csv", make: () => tableOf(tiles, plotPixels()) }];
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
  for (const number of tile ? visible : []) {
    for (let i = 0; tile && i < tile.count; i++) {
      low = Math.min(low, orElse(tile.low[number * tile.count + i], low));
      high = Math.max(high, orElse(tile.high[number * tile.count + i], high));
    }
  }
  return valueRange(low, high, fromZero);
}

const orElse = (value: number | undefined, other: number) =>
  value === undefined || Number.isNaN(value) ? other : value;

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
