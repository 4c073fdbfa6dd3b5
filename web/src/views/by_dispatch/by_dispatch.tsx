// One metric over the dispatches of the capture: is it the same every time, and which dispatch is not like the others?
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { counted, exact, measured, nanoseconds } from "../../base/format";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { truncation } from "../../model/answers";
import {
  chooseKernel,
  chosenKernel,
  counterMetrics,
  type MetricTable,
  normalization,
  type Panel,
} from "../../model/counters";
import { countersOverview, current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { select, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Canvas, type CanvasEvents, type Paint, type Size } from "../../widgets/canvas";
import { CounterKernelChooser, NormalizationChooser } from "../../widgets/counter_choice";
import { type Column, tableOffer } from "../../widgets/data_table";
import { pictures, SaveMenu } from "../../widgets/saving";
import { nearestValue, type PlacedValue, PlotFrame, paintDispatchPlot } from "./plot";
import { type DispatchValue, DURATION, tableOf, valuesOf } from "./series";
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
    () => new Map(tables.flatMap((table) => table.metrics.map((metric) => [metric.id, metric]))),
    [tables],
  );
  const selected = selection.value.metric;
  const metric = selected !== undefined && metrics.has(selected) ? selected : DURATION;
  const table = tableOf(metric) || tables[0]?.id;
  const per = normalization();
  const asked = table && (per === "kernel" ? { table } : { table, normalization: per });
  const answer = useAnswer(asked ? arrow(current.value, "counter_values", asked) : null);
  if (!table) return <Nothing>Nothing to show: no metrics are known for this GPU.</Nothing>;
  const declared = metrics.get(metric);
  const unit = declared ? declared.unit.replace("/N", `/${per}`) : "ns"; // N stands for what is chosen
  const choose = <MetricSelect metric={metric} tables={tables} />;
  return (
    <Answered answer={answer} choose={choose}>
      {(columns) => (
        <Plot columns={columns} metric={metric} unit={unit} name={declared?.name ?? "Duration"} choose={choose} />
      )}
    </Answered>
  );
}

function MetricSelect({ metric, tables }: { metric: string; tables: MetricTable[] }) {
  return (
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
      {tables.map((table) => (
        <optgroup key={table.id} label={`${table.id} ${table.title}`}>
          {table.metrics.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

interface PlotProps {
  columns: Columns;
  /** Id of the metric, or DURATION; its unit and name. */
  metric: string;
  unit: string;
  name: string;
  choose: preact.ComponentChild;
}

function Plot({ columns, metric, unit, name, choose }: PlotProps) {
  const kernel = chosenKernel()?.kernel ?? null;
  const values = useMemo(() => valuesOf(columns, metric, kernel), [columns, metric, kernel]);
  const over = useSignal<PlacedValue | null>(null);
  const size = useRef<Size>({ width: 800, height: 400 });
  const paint: Paint = (painter, area) => {
    size.current = area;
    paintDispatchPlot(painter, new PlotFrame(values, area), unit);
  };
  const under = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return nearestValue(new PlotFrame(values, size.current), event.clientX - box.left, event.clientY - box.top);
  };
  const events: CanvasEvents = {
    onPointerMove: (event) => {
      over.value = under(event);
    },
    onPointerLeave: () => {
      over.value = null;
    },
    onClick: (event) => {
      const hit = under(event);
      if (hit) chooseKernel(hit.point.kernel);
    },
  };
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <CounterKernelChooser />
        <NormalizationChooser />
        <Counts columns={columns} values={values} />
        <SaveMenu
          name="by-dispatch"
          offers={[...pictures(paint, () => size.current), tableOffer(COLUMNS, () => values)]}
        />
      </div>
      {values.length ? (
        <div class="by-dispatch" data-points={values.length}>
          <Canvas paint={paint} label={`${name} of each dispatch`} events={events} />
          {over.value ? <Tip over={over.value} unit={unit} width={size.current.width} /> : null}
        </div>
      ) : (
        <Nothing>Nothing to show: no dispatch has a value of {name}.</Nothing>
      )}
    </div>
  );
}

/** How many dispatches are shown and how many of them are outliers, and whether the answer lacks some. */
function Counts({ columns, values }: { columns: Columns; values: DispatchValue[] }) {
  const dispatchCount = columns.length ? (columns.numbers("dispatch_total")[0] ?? 0) : 0;
  const cutNote = truncation(columns.length, dispatchCount);
  const outlierCount = values.filter((point) => point.isOutlier).length;
  return (
    <>
      <span>{counted(values.length, "dispatches")}</span>
      {outlierCount ? (
        <span title="More than 5 deviations and 5 % away from the median of their kernel">
          ◆ {exact(outlierCount)} outliers
        </span>
      ) : null}
      {cutNote ? <strong>{cutNote}</strong> : null}
    </>
  );
}

interface TipProps {
  over: PlacedValue;
  unit: string;
  /** Of the canvas: the tip stands on the side with more room. */
  width: number;
}

function Tip({ over: { point, x, y }, unit, width }: TipProps) {
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
