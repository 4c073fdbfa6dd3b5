// One metric over the dispatches of the capture: is it the same every time, and which dispatch is not like the others?
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { counted, exact, measured, nanoseconds } from "../../base/format";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { tickValue } from "../../draw/curves";
import { paintMark } from "../../draw/marks";
import { type Painter, textScale } from "../../draw/painter";
import { paper, seriesColour } from "../../draw/palette";
import { tickNanoseconds, ticks } from "../../draw/ticks";
import { truncation } from "../../model/answers";
import { chooseKernel, chosenKernel, counterMetrics, normalization, type Panel } from "../../model/counters";
import { countersOverview, current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { select, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Canvas, type Paint, type Size } from "../../widgets/canvas";
import { CounterKernelChooser, NormalizationChooser } from "../../widgets/counter_choice";
import { type Column, tableOffer } from "../../widgets/data_table";
import { pictures, SaveMenu } from "../../widgets/saving";
import { type DispatchValue, DURATION, rangeOf, tableOf, valuesOf } from "./series";
import "./by_dispatch.css";

const COLUMNS: Column<DispatchValue>[] = [
  { name: "dispatch", title: "Dispatch", value: (point) => point.dispatch, width: "" },
  { name: "dispatch_id", title: "Id", value: (point) => point.id, width: "" },
  { name: "kernel", title: "Kernel", value: (point) => point.kernel, width: "" },
  { name: "value", title: "Value", value: (point) => point.value, width: "" },
  { name: "is_outlier", title: "Outlier", value: (point) => String(point.isOutlier), width: "" },
];

function ByDispatch() {
  const panels = useAnswer(counterMetrics(current.value));
  return <Answered answer={panels}>{(value) => <Chosen panels={value} />}</Answered>;
}

/** Metrics that single dispatches have. */
const tablesOf = (panels: Panel[]) => panels.flatMap((panel) => panel.tables).filter((table) => !table.per_channel);

function Chosen({ panels }: { panels: Panel[] }) {
  const tables = useMemo(() => tablesOf(panels), [panels]);
  const metrics = useMemo(
    () => new Map(tables.flatMap((table) => table.metrics.map((each) => [each.id, each]))),
    [tables],
  );
  const metric = metrics.has(selection.value.metric ?? "") ? (selection.value.metric as string) : DURATION;
  const table = tableOf(metric) || tables[0]?.id;
  const per = normalization();
  const asked = table && (per === "kernel" ? { table } : { table, normalization: per });
  const answer = useAnswer(asked ? arrow(current.value, "counter_values", asked) : null);
  if (!table) return <Nothing>Nothing to show: no metrics are known for this GPU.</Nothing>;
  const declared = metrics.get(metric);
  const unit = declared ? declared.unit.replace("/N", `/${normalization()}`) : "ns";
  const choose = (
    <select
      aria-label="Metric"
      class="kernel-chooser"
      value={metric}
      onChange={(event) => {
        const value = event.currentTarget.value;
        select({ metric: value === DURATION ? undefined : value });
      }}
    >
      <option value={DURATION}>Duration</option>
      {tables.map((group) => (
        <optgroup key={group.id} label={`${group.id} ${group.title}`}>
          {group.metrics.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
  return (
    <Answered answer={answer} choose={choose}>
      {(columns) => (
        <Plot columns={columns} metric={metric} unit={unit} name={declared?.name ?? "Duration"} choose={choose} />
      )}
    </Answered>
  );
}

const LEFT = () => 70 * textScale();
const BELOW = () => 22 * textScale();
const TOP = 10;
const NEAR = 12;

interface PlotProps {
  columns: Columns;
  metric: string;
  unit: string;
  name: string;
  choose: preact.ComponentChild;
}

function Plot({ columns, metric, unit, name, choose }: PlotProps) {
  const kernel = chosenKernel()?.kernel ?? null;
  const values = useMemo(() => valuesOf(columns, metric, kernel), [columns, metric, kernel]);
  const over = useSignal<{ point: DispatchValue; x: number; y: number } | null>(null);
  const size = useRef<Size>({ width: 800, height: 400 });
  const range = rangeOf(values);
  const last = Math.max(1, ...values.map((point) => point.dispatch));
  const x = (dispatch: number, width: number) => LEFT() + 8 + (dispatch / last) * (width - LEFT() - 24);
  const y = (value: number, height: number) =>
    TOP + (1 - (value - range.low) / (range.high - range.low)) * (height - TOP - BELOW());
  const paint: Paint = (painter, area) => {
    size.current = area;
    paintAxes(painter, area, range, last, y, x, unit);
    const radius = (values.length > 400 ? 2.5 : 4) * textScale();
    for (const point of values) {
      const [left, top] = [x(point.dispatch, area.width), y(point.value, area.height)];
      const edge = point.isOutlier ? paper("text") : seriesColour(point.kernel);
      paintMark(
        painter,
        point.isOutlier ? "diamond" : "circle",
        left,
        top,
        point.isOutlier ? radius * 1.5 : radius,
        seriesColour(point.kernel),
        edge,
      );
    }
  };
  const nearest = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    let best: typeof over.value = null;
    let least = NEAR;
    for (const point of values) {
      const [left, top] = [x(point.dispatch, size.current.width), y(point.value, size.current.height)];
      const far = Math.hypot(left - at.x, top - at.y);
      if (far < least) {
        least = far;
        best = { point, x: left, y: top };
      }
    }
    return best;
  };
  const total = columns.length ? (columns.numbers("dispatch_total")[0] ?? 0) : 0;
  const left = truncation(columns.length, total);
  const outliers = values.filter((point) => point.isOutlier).length;
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <CounterKernelChooser />
        <NormalizationChooser />
        <span>{counted(values.length, "dispatches")}</span>
        {outliers ? (
          <span title="More than 5 deviations and 5 % away from the median of their kernel">
            ◆ {exact(outliers)} outliers
          </span>
        ) : null}
        {left ? <strong>{left}</strong> : null}
        <SaveMenu
          name="by-dispatch"
          offers={[...pictures(paint, () => size.current), tableOffer(COLUMNS, () => values)]}
        />
      </div>
      {values.length ? (
        <div class="by-dispatch" data-points={values.length}>
          <Canvas
            paint={paint}
            label={`${name} of each dispatch`}
            events={{
              onPointerMove: (event) => {
                over.value = nearest(event);
              },
              onPointerLeave: () => {
                over.value = null;
              },
              onClick: (event) => {
                const hit = nearest(event);
                if (hit) chooseKernel(hit.point.kernel);
              },
            }}
          />
          {over.value ? <Tip over={over.value} unit={unit} width={size.current.width} /> : null}
        </div>
      ) : (
        <Nothing>Nothing to show: no dispatch has a value of {name}.</Nothing>
      )}
    </div>
  );
}

function paintAxes(
  painter: Painter,
  { width, height }: Size,
  range: { low: number; high: number },
  last: number,
  y: (value: number, height: number) => number,
  x: (dispatch: number, width: number) => number,
  unit: string,
): void {
  const rows = ticks(range.low, range.high, height - TOP - BELOW(), 34);
  for (const value of rows.times) {
    const at = Math.round(y(value, height)) + 0.5;
    painter.polyline([LEFT(), at, width - 6, at], paper("line"), 1);
    const text = unit === "ns" ? tickNanoseconds(value, rows.step) : tickValue(value, rows.step, range);
    painter.text(LEFT() - 6, at, text, paper("faint"), { align: "right" });
  }
  for (const value of ticks(0, last, width - LEFT(), 90, 0, 1).times) {
    painter.text(x(value, width), height - BELOW() / 2, exact(value), paper("faint"), { align: "center" });
  }
  if (unit !== "ns") painter.text(LEFT() + 4, TOP + 2, unit, paper("faint"), { size: 10 });
  painter.text(4, height - BELOW() / 2, "dispatch", paper("faint"), { size: 10 });
}

function Tip({
  over: { point, x, y },
  unit,
  width,
}: {
  over: { point: DispatchValue; x: number; y: number };
  unit: string;
  width: number;
}) {
  const side = x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` };
  const name = countersOverview().kernels[point.kernel]?.kernel_name ?? `kernel ${point.kernel}`;
  return (
    <div class="tooltip" style={{ ...side, top: `${Math.max(4, y - 30)}px` }} data-tip={point.dispatch}>
      <div class="strong">{unit === "ns" ? nanoseconds(point.value) : `${measured(point.value)} ${unit}`}</div>
      <div>
        dispatch {exact(point.dispatch)}
        {Number.isNaN(point.id) ? "" : `, id ${point.id}`} of {name}
      </div>
      {point.isOutlier ? <div>an outlier among the dispatches of its kernel</div> : null}
    </div>
  );
}

export const byDispatch: View = {
  id: "by_dispatch",
  title: "By dispatch",
  hint: "The selected metric, or the duration, of every dispatch: how much it varies, and which dispatches are outliers",
  about: "counters",
  missing: () => "",
  component: ByDispatch,
};
