// One table of metrics: sorted by a click on a header, one metric selected.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { measured } from "../../base/format";
import { COUNTER_PANELS, type CounterPanelsRow } from "../../data/answers.gen";
import { hintOf } from "../../data/tables";
import { explained, type Metric, type MetricTable, type Statistic } from "../../model/counters";
import { metricChangeOf } from "../../model/metric_changes";
import { select, selection } from "../../model/selection";
import { ShareBar } from "../../widgets/bars";
import { Delta } from "../../widgets/changes";
import { Spread } from "./spread";

const TITLES: Record<Statistic, string> = {
  average: "Average",
  deviation: "Deviation",
  minimum: "Min",
  q1: "Q1",
  median: "Median",
  q3: "Q3",
  maximum: "Max",
  peak: "Peak",
  peak_share: "% of peak",
};

type Key = Statistic | "name" | "unit";

interface Props {
  table: MetricTable;
  rows: CounterPanelsRow[];
  declared: Map<string, Metric>;
}

export function MetricRows({ table, rows, declared }: Props) {
  const order = useSignal<{ key: Key; down: boolean } | null>(null);
  const by = order.value;
  const sorted = by ? [...rows].sort((a, b) => compared(a[by.key], b[by.key]) * (by.down ? -1 : 1)) : rows;
  const spreads = table.columns.includes("minimum") && rows.some((row) => (row.dispatch_count ?? 0) > 1);
  const head = (key: Key, title: string, hint: string, isNumber: boolean) => (
    <th
      key={key}
      class={isNumber ? "number" : ""}
      aria-sort={by?.key === key ? (by.down ? "descending" : "ascending") : "none"}
    >
      <button
        type="button"
        title={hint}
        data-column={key}
        onClick={() => {
          order.value = { key, down: by?.key === key ? !by.down : isNumber };
        }}
      >
        {title}
        {by?.key === key ? (by.down ? " ▾" : " ▴") : ""}
      </button>
    </th>
  );
  return (
    <table class="metric-table small-table" aria-label={table.title}>
      <thead>
        <tr>
          {head("name", "Metric", "Name; hover a row for its definition", false)}
          {table.columns.map((column) => head(column, TITLES[column], hintOf(COUNTER_PANELS[column]), true))}
          {head("unit", "Unit", "Unit of the values", false)}
          {spreads ? (
            <th title="From the smallest to the largest value of a dispatch, with quartiles">Spread</th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {sorted.map((row) => (
          <Row
            key={row.metric_id + row.series}
            row={row}
            columns={table.columns}
            declared={declared}
            spreads={spreads}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  row: CounterPanelsRow;
  columns: Statistic[];
  declared: Map<string, Metric>;
  spreads: boolean;
}

function Row({ row, columns, declared, spreads }: RowProps) {
  const isSelected = selection.value.metric === row.metric_id;
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isSelected) place.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  const isKnown = columns.some((column) => row[column] !== null && column !== "peak");
  const choose = () => select({ metric: isSelected ? undefined : row.metric_id });
  return (
    <tr
      ref={place}
      class={`can-click${isSelected ? " selected" : ""}`}
      data-metric={row.metric_id}
      title={explained(declared.get(row.metric_id))}
      onClick={choose}
    >
      <td>{row.series ? `${row.name}: ${row.series}` : row.name}</td>
      {isKnown ? (
        columns.map((column) => (
          <td key={column} class="number" data-column={column}>
            {column === "peak_share" && row.peak_share !== null ? (
              <span class="share-cell">
                <ShareBar share={row.peak_share / 100} meaning="hidden" label={`${measured(row.peak_share)} %`} />
                <span>{row.peak_share.toFixed(1)} %</span>
              </span>
            ) : (
              measured(row[column])
            )}
            {column === "average" ? <Delta change={metricChangeOf(row)} format="measured" isBrief /> : null}
          </td>
        ))
      ) : (
        <td class="metric-reason" colSpan={columns.length} data-column="reason">
          {row.reason || "not known"}
        </td>
      )}
      <td class="faint-text">{row.unit}</td>
      {spreads ? (
        <td>
          <Spread row={row} />
        </td>
      ) : null}
    </tr>
  );
}

function compared(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return String(a).localeCompare(String(b));
}
