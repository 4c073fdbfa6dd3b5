// One table of metrics: sorted by a click on a header, one metric selected.
import { type Signal, useSignal } from "@preact/signals";
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

/** What the table can be sorted by. */
type Key = Statistic | "name" | "unit";

interface Props {
  table: MetricTable;
  rows: CounterPanelsRow[];
  declared: Map<string, Metric>;
}

interface Order {
  key: Key;
  isDown: boolean;
}

export function MetricRows({ table, rows, declared }: Props) {
  /** null = as in the answer. */
  const order = useSignal<Order | null>(null);
  const sorted = order.value ? sortedBy(rows, order.value) : rows;
  const hasSpread = table.columns.includes("minimum") && rows.some((row) => (row.dispatch_count ?? 0) > 1);
  return (
    <table class="metric-table small-table" aria-label={table.title}>
      <thead>
        <tr>
          <Head column="name" title="Metric" hint="Name; hover a row for its definition" order={order} />
          {table.columns.map((column) => (
            <Head
              key={column}
              column={column}
              title={TITLES[column]}
              hint={hintOf(COUNTER_PANELS[column])}
              order={order}
              isNumber
            />
          ))}
          <Head column="unit" title="Unit" hint="Unit of the values" order={order} />
          {hasSpread ? (
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
            hasSpread={hasSpread}
          />
        ))}
      </tbody>
    </table>
  );
}

function sortedBy(rows: CounterPanelsRow[], { key, isDown }: Order): CounterPanelsRow[] {
  return [...rows].sort((a, b) => compared(a[key], b[key]) * (isDown ? -1 : 1));
}

interface HeadProps {
  column: Key;
  title: string;
  hint: string;
  order: Signal<Order | null>;
  isNumber?: boolean;
}

/** A click sorts by the column, the largest numbers and the first names first; another click the other way round. */
function Head({ column, title, hint, order, isNumber = false }: HeadProps) {
  const own = order.value?.key === column ? order.value : null;
  return (
    <th class={isNumber ? "number" : ""} aria-sort={own ? (own.isDown ? "descending" : "ascending") : "none"}>
      <button
        type="button"
        title={hint}
        data-column={column}
        onClick={() => {
          order.value = { key: column, isDown: own ? !own.isDown : isNumber };
        }}
      >
        {title}
        {own ? (own.isDown ? " ▾" : " ▴") : ""}
      </button>
    </th>
  );
}

interface RowProps {
  row: CounterPanelsRow;
  columns: Statistic[];
  declared: Map<string, Metric>;
  /** Whether the last column shows how values spread over dispatches. */
  hasSpread: boolean;
}

function Row({ row, columns, declared, hasSpread }: RowProps) {
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
      {hasSpread ? (
        <td>
          <Spread row={row} />
        </td>
      ) : null}
    </tr>
  );
}

/** Numbers by size, names by letters; what is not known comes before all. */
function compared(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return String(a).localeCompare(String(b));
}
