// The series of a chart: shown or not, and their values at the pointer, else their means on screen.
import type { Signal } from "@preact/signals";
import { exact, nanoseconds, percent } from "../base/format";
import { flipped } from "../base/sets";
import { binAt, type CurveTiles, cursor, onScreen } from "../model/curves";
import { clockMhz, timeUnit } from "../model/document";
import { bounds, shown } from "../model/timewindow";
import type { CurveChartProps } from "./curve_chart";

interface Props extends CurveChartProps {
  tiles: CurveTiles;
  hidden: Signal<Set<number>>;
  colourOf: (number: number) => string;
  pixels: () => number;
}

interface Value {
  value: number;
  /** More to say: the range in the bin. */
  hint: string;
}

function valuesOf(
  tiles: CurveTiles,
  pixels: number,
): { heading: string; title: string; values: Value[]; isExact?: boolean } {
  const parts = tiles.inWindow(shown.value, pixels);
  const at = cursor.value;
  const numbers = tiles.set.series.map((_, number) => number);
  if (at === null) {
    const means = numbers.map((number) => onScreen(parts, number, shown.value));
    return {
      heading: "mean on screen",
      title: "Mean over the time on screen; point at the chart for the values at one time",
      values: means.map(({ mean, high }) => ({ value: mean, hint: `largest: ${figure(high)}` })),
    };
  }
  const values = tiles.exactAt(at);
  const cycle = Math.floor(at);
  return {
    heading: timeOf(cycle),
    isExact: values !== undefined,
    title: values ? "Values at this time" : "Means of the shortest interval on screen around this time",
    values: numbers.map((number) => {
      const bin = binAt(parts, number, at);
      const hint = bin ? `on this pixel: mean ${figure(bin.mean)}, from ${figure(bin.low)} to ${figure(bin.high)}` : "";
      return { value: values?.[number] ?? bin?.mean ?? Number.NaN, hint };
    }),
  };
}

function timeOf(cycle: number): string {
  if (timeUnit() === "ns") return nanoseconds(cycle);
  const clock = clockMhz();
  const since = clock ? ` · ${nanoseconds(((cycle - bounds.value.begin) * 1e3) / clock)}` : "";
  return `cycle ${exact(cycle)}${since}`;
}

/** Whole numbers as they are, others with enough digits to compare. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return exact(value);
  return Math.abs(value) >= 1000 ? exact(value) : value.toPrecision(4);
}

export function CurveLegend({ set, tiles, hidden, colourOf, pixels, areParts, isSelected, onSelect }: Props) {
  const { heading, title, values, isExact } = valuesOf(tiles, pixels());
  const isShown = (number: number) => !hidden.value.has(number);
  const total = values.reduce((sum, { value }) => sum + (Number.isNaN(value) ? 0 : value), 0);
  const toggle = (number: number) => {
    hidden.value = flipped(hidden.value, number);
  };
  const showAll = (shown: boolean) => {
    hidden.value = new Set(shown ? [] : set.series.map((_, number) => number));
  };
  return (
    <div class="curve-legend">
      <div class="curve-heading" title={title}>
        <span data-cursor={isExact ? "exact" : "mean"}>{heading}</span>
      </div>
      <div class="curve-series-list">
        {set.series.map((series, number) => {
          const { value, hint } = values[number] as Value;
          const classes = ["curve-series", isShown(number) ? "" : "off", isSelected?.(series) ? "selected" : ""];
          return (
            <div class={classes.join(" ")} key={number} data-series={series.label} title={`${series.label}\n${hint}`}>
              <input
                type="checkbox"
                checked={isShown(number)}
                aria-label={`show ${series.label}`}
                onChange={() => toggle(number)}
              />
              <span class="swatch" style={{ background: colourOf(number) }} />
              {onSelect ? (
                <button type="button" class="link curve-label" onClick={() => onSelect(series)}>
                  {series.label}
                </button>
              ) : (
                <span class="curve-label">{series.label}</span>
              )}
              <span class="number" data-value={Number.isNaN(value) ? "" : value}>
                {figure(value)}
              </span>
              {areParts ? <span class="number faint">{total > 0 ? percent(value / total) : ""}</span> : null}
            </div>
          );
        })}
        {areParts && set.series.length > 1 ? (
          <div class="curve-series total">
            <span class="curve-label">sum</span>
            <span class="number" data-total={total}>
              {figure(total)}
            </span>
          </div>
        ) : null}
      </div>
      {set.series.length > 1 ? (
        <div class="curve-all">
          <button type="button" class="quiet" onClick={() => showAll(true)}>
            Show all
          </button>
          <button type="button" class="quiet" onClick={() => showAll(false)}>
            Hide all
          </button>
        </div>
      ) : null}
    </div>
  );
}
