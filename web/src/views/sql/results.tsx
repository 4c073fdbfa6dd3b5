// The rows of a query: as a table, or drawn.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted, exact, measured } from "../../base/format";
import { seriesColour } from "../../draw/palette";
import { type PlotData, type PlotKind, paintPlot } from "../../draw/xy_plot";
import { runOverview } from "../../model/document";
import { selectKernel } from "../../model/run";
import { select } from "../../model/selection";
import { sqlTrack, type TimedRow, trackOfRows } from "../../model/sql_track";
import { show } from "../../model/timewindow";
import { frontView } from "../../model/view";
import { Canvas, type Paint } from "../../widgets/canvas";
import { type Column, DataTable, tableOffer } from "../../widgets/data_table";
import { pictures, SaveMenu } from "../../widgets/saving";

type Value = string | number | boolean | null;
type Row = Value[];

export interface SqlAnswer {
  engine: string;
  seconds: number;
  row_count: number;
  columns: { name: string; is_number: boolean }[];
  rows: Row[];
}

const PLOTS: [PlotKind, string][] = [
  ["line", "Line"],
  ["bar", "Bars"],
  ["scatter", "Points"],
  ["histogram", "Histogram"],
];
const NUMBER_OF_ROW = -1;

export function Results({ answer }: { answer: SqlAnswer }) {
  const { rows, row_count: count } = answer;
  const look = useSignal<"table" | PlotKind>("table");
  const columns = useMemo(() => columnsOf(answer), [answer]);
  const numeric = answer.columns.flatMap((column, n) => (column.is_number ? [n] : []));
  const x = useSignal(NUMBER_OF_ROW);
  const y = useSignal(numeric[0] ?? 0);
  const data = useMemo(() => plotData(answer, look.value, x.value, y.value), [answer, look.value, x.value, y.value]);
  const paint: Paint = (painter, size) => data && paintPlot(painter, size, data, seriesColour(0));
  const times = timesOf(answer);
  const toTime = (row: Row) => {
    const timed = times?.(row);
    if (timed) goToRow(timed);
  };
  const toTrack = () => {
    sqlTrack.value = trackOfRows(rows.flatMap((row) => times?.(row) ?? []));
    frontView("run_timeline");
  };
  const csvOffer = tableOffer(columns, () => rows);
  return (
    <div class="view sql-results">
      <div class="toolbar">
        <span data-figure="rows">{counted(count, "rows")}</span>
        <span class="faint-text" data-figure="seconds">
          {answer.seconds.toFixed(2)} s, {answer.engine}
        </span>
        {rows.length < count ? (
          <strong data-figure="truncated" title="wavewright query PATH SQL --csv gives all rows">
            showing the first {exact(rows.length)}
          </strong>
        ) : null}
        <select
          aria-label="Show as"
          data-choose="look"
          value={look.value}
          onChange={(event) => {
            look.value = event.currentTarget.value as PlotKind;
          }}
        >
          <option value="table">Table</option>
          {PLOTS.map(([kind, title]) => (
            <option key={kind} value={kind} disabled={!numeric.length}>
              {title}
            </option>
          ))}
        </select>
        {times ? (
          <button
            type="button"
            class="quiet"
            data-action="track"
            title="These rows as a track on top of the timeline"
            onClick={toTrack}
          >
            Show as track
          </button>
        ) : null}
        {look.value === "table" ? null : (
          <>
            {look.value === "histogram" ? null : (
              <ColumnSelect label="x" answer={answer} value={x.value} choose={(n) => (x.value = n)} />
            )}
            <ColumnSelect label="y" answer={answer} value={y.value} choose={(n) => (y.value = n)} isNumber />
          </>
        )}
        <SaveMenu
          name="query"
          offers={data ? [...pictures(paint, () => ({ width: 900, height: 420 })), csvOffer] : [csvOffer]}
        />
      </div>
      {data ? (
        <div class="sql-plot" data-points={data.y.length}>
          <Canvas paint={paint} label={`${data.yName} of ${counted(data.y.length, "rows")}, by ${data.xName}`} />
        </div>
      ) : (
        <DataTable label="Rows of the query" columns={columns} rows={rows} {...(times ? { onSelect: toTime } : {})} />
      )}
    </div>
  );
}

interface SelectProps {
  label: string;
  answer: SqlAnswer;
  value: number;
  choose: (column: number) => void;
  isNumber?: boolean;
}

function ColumnSelect({ label, answer, value, choose, isNumber = false }: SelectProps) {
  return (
    <label>
      {label}{" "}
      <select
        data-choose={label}
        aria-label={`Column of the ${label} axis`}
        value={value}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {isNumber ? null : <option value={NUMBER_OF_ROW}>number of the row</option>}
        {answer.columns.map((column, n) =>
          isNumber && !column.is_number ? null : (
            <option key={column.name} value={n}>
              {column.name}
            </option>
          ),
        )}
      </select>
    </label>
  );
}

function columnsOf(answer: SqlAnswer): Column<Row>[] {
  return answer.columns.map(({ name, is_number: isNumber }, n) => ({
    name,
    title: name,
    value: (row) => {
      const value = row[n];
      return typeof value === "boolean" ? String(value) : value;
    },
    show: (row) => {
      const value = row[n];
      if (value === null || value === undefined) return <span class="faint-text">–</span>;
      return typeof value === "number" ? (Number.isInteger(value) ? exact(value) : measured(value)) : String(value);
    },
    width: isNumber ? "minmax(8em, 1fr)" : "minmax(12em, 2fr)",
  }));
}

/** Numbers of a column; those beyond the exact ones of JavaScript count from the smallest. */
function numbersOf(answer: SqlAnswer, column: number): { values: number[]; name: string } {
  const name = answer.columns[column]?.name ?? "";
  const cells = answer.rows.map((row) => row[column] ?? null);
  if (!cells.some((cell) => typeof cell === "string")) {
    return { values: cells.map((cell) => (cell === null ? Number.NaN : Number(cell))), name };
  }
  const exactCells = cells.map((cell) => (cell === null ? null : BigInt(cell as string)));
  const least = exactCells.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null) ?? 0n;
  return { values: exactCells.map((c) => (c === null ? Number.NaN : Number(c - least))), name: `${name} - ${least}` };
}

function plotData(answer: SqlAnswer, look: "table" | PlotKind, x: number, y: number): PlotData | null {
  if (look === "table" || !answer.columns[y]?.is_number) return null;
  const { values, name: yName } = numbersOf(answer, y);
  const column = answer.columns[x];
  if (!column) return { kind: look, x: answer.rows.map((_, n) => n + 1), y: values, xName: "number of the row", yName };
  if (column.is_number) {
    const { values: xs, name: xName } = numbersOf(answer, x);
    return { kind: look, x: xs, y: values, xName, yName };
  }
  const texts = answer.rows.map((row) => String(row[x] ?? ""));
  // texts have no place on an axis of numbers: bars stand in the order of the rows
  return { kind: look === "histogram" ? look : "bar", x: texts, y: values, xName: column.name, yName };
}

/** The times of rows with a start and a duration or an end, where all times are of one clock; null = rows have none. */
function timesOf(answer: SqlAnswer): ((row: Row) => TimedRow | null) | null {
  const at = (name: string) => answer.columns.findIndex((column) => column.name === name && column.is_number);
  const [start, duration, end, name] = [
    at("start"),
    at("duration"),
    at("end"),
    answer.columns.findIndex((c) => c.name === "name"),
  ];
  const [node, ...others] = runOverview().clocks.nodes;
  if (start < 0 || (duration < 0 && end < 0) || !node?.start_ns || others.length) return null;
  const zero = BigInt(node.start_ns);
  return (row) => {
    const from = row[start];
    const until = duration >= 0 ? row[duration] : row[end];
    if (typeof from === "boolean" || typeof until === "boolean" || from == null || until == null) return null;
    const begin = Number(BigInt(from) - zero);
    const length = duration >= 0 ? Number(until) : Number(BigInt(until) - zero) - begin;
    return { name: typeof row[name] === "string" ? row[name] : "", begin, end: begin + length };
  };
}

function goToRow({ name, begin, end }: TimedRow): void {
  select({ range: { begin, end } });
  if (name) selectKernel(name);
  show({ begin: 2 * begin - end, end: 2 * end - begin });
  frontView("run_timeline");
}
