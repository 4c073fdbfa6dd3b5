// The rows of a query: as a table, or drawn.
import { type Signal, useSignal } from "@preact/signals";
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

/** Integers that JavaScript does not have exactly are strings. */
type Value = string | number | boolean | null;
type Row = Value[];

export interface SqlAnswer {
  engine: string;
  seconds: number;
  /** Of the query; `rows` are the first of them. */
  row_count: number;
  columns: { name: string; is_number: boolean }[];
  rows: Row[];
}

type Look = "table" | PlotKind;

const PLOTS: [kind: PlotKind, title: string][] = [
  ["line", "Line"],
  ["bar", "Bars"],
  ["scatter", "Points"],
  ["histogram", "Histogram"],
];
/** In place of a column: the number of the row. */
const NUMBER_OF_ROW = -1;

export function Results({ answer }: { answer: SqlAnswer }) {
  const { rows } = answer;
  const firstNumber = answer.columns.findIndex((column) => column.is_number);
  const look = useSignal<Look>("table");
  const x = useSignal(NUMBER_OF_ROW);
  const y = useSignal(Math.max(firstNumber, 0));
  const columns = useMemo(() => columnsOf(answer), [answer]);
  const data = useMemo(() => plotData(answer, look.value, x.value, y.value), [answer, look.value, x.value, y.value]);
  const paint: Paint = (painter, size) => data && paintPlot(painter, size, data, seriesColour(0));
  const timeOf = timeReader(answer);
  const showTime = (row: Row) => {
    const timed = timeOf?.(row);
    if (timed) showInTimeline(timed);
  };
  const csvOffer = tableOffer(columns, () => rows);
  return (
    <div class="view sql-results">
      <div class="toolbar">
        <Counts answer={answer} />
        <LookSelect look={look} hasNumbers={firstNumber >= 0} />
        {timeOf ? <TrackButton timedRows={() => rows.flatMap((row) => timeOf(row) ?? [])} /> : null}
        {look.value === "table" || look.value === "histogram" ? null : (
          <ColumnSelect label="x" answer={answer} value={x.value} choose={(column) => (x.value = column)} />
        )}
        {look.value === "table" ? null : (
          <ColumnSelect label="y" answer={answer} value={y.value} choose={(column) => (y.value = column)} isNumber />
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
        <DataTable
          label="Rows of the query"
          columns={columns}
          rows={rows}
          {...(timeOf ? { onSelect: showTime } : {})}
        />
      )}
    </div>
  );
}

/** How many rows there are, how long they took, and how many of them are here. */
function Counts({ answer: { rows, row_count, seconds, engine } }: { answer: SqlAnswer }) {
  return (
    <>
      <span data-figure="rows">{counted(row_count, "rows")}</span>
      <span class="faint-text" data-figure="seconds">
        {seconds.toFixed(2)} s, {engine}
      </span>
      {rows.length < row_count ? (
        <strong data-figure="truncated" title="wavewright query PATH SQL --csv gives all rows">
          showing the first {exact(rows.length)}
        </strong>
      ) : null}
    </>
  );
}

function LookSelect({ look, hasNumbers }: { look: Signal<Look>; hasNumbers: boolean }) {
  return (
    <select
      aria-label="Show as"
      data-choose="look"
      value={look.value}
      onChange={(event) => {
        look.value = event.currentTarget.value as Look;
      }}
    >
      <option value="table">Table</option>
      {PLOTS.map(([kind, title]) => (
        <option key={kind} value={kind} disabled={!hasNumbers}>
          {title}
        </option>
      ))}
    </select>
  );
}

function TrackButton({ timedRows }: { timedRows: () => TimedRow[] }) {
  return (
    <button
      type="button"
      class="quiet"
      data-action="track"
      title="These rows as a track on top of the timeline"
      onClick={() => {
        sqlTrack.value = trackOfRows(timedRows());
        frontView("run_timeline");
      }}
    >
      Show as track
    </button>
  );
}

interface SelectProps {
  /** Of the axis: x or y. */
  label: string;
  answer: SqlAnswer;
  value: number;
  choose: (column: number) => void;
  /** Only columns of numbers can be chosen. */
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

/**
 * Numbers of a column for an axis. Integers beyond those that JavaScript has exactly arrive as strings: all of such a
 * column are differences from the smallest, and its name says from what.
 */
function numbersOf(answer: SqlAnswer, column: number): { values: number[]; name: string } {
  const name = answer.columns[column]?.name ?? "";
  const cells = answer.rows.map((row) => row[column] ?? null);
  if (!cells.some((cell) => typeof cell === "string")) {
    return { values: cells.map((cell) => (cell === null ? Number.NaN : Number(cell))), name };
  }
  const integers = cells.map((cell) => (cell === null ? null : BigInt(cell as string)));
  const known = integers.filter((integer) => integer !== null);
  const least = known.reduce((a, b) => (b < a ? b : a));
  const values = integers.map((integer) => (integer === null ? Number.NaN : Number(integer - least)));
  return { values, name: `${name} - ${least}` };
}

/** What is plotted; null = a table is shown. An `x` that is no column is the number of the row. */
function plotData(answer: SqlAnswer, look: Look, x: number, y: number): PlotData | null {
  if (look === "table" || !answer.columns[y]?.is_number) return null;
  const { values, name: yName } = numbersOf(answer, y);
  const column = answer.columns[x];
  if (!column) return { kind: look, x: answer.rows.map((_, n) => n + 1), y: values, xName: "number of the row", yName };
  if (column.is_number) {
    const { values: xs, name: xName } = numbersOf(answer, x);
    return { kind: look, x: xs, y: values, xName, yName };
  }
  const labels = answer.rows.map((row) => String(row[x] ?? ""));
  // strings have no place on an axis of numbers: bars stand in the order of the rows
  return { kind: look === "histogram" ? look : "bar", x: labels, y: values, xName: column.name, yName };
}

/**
 * How the time of a row is read: from its columns `start` and `duration`, else `end`; null = rows have no times, or their
 * times are of several clocks. Of a row without a time the reader returns null.
 */
function timeReader(answer: SqlAnswer): ((row: Row) => TimedRow | null) | null {
  const numberColumn = (name: string) => answer.columns.findIndex((column) => column.name === name && column.is_number);
  const [start, duration, end] = [numberColumn("start"), numberColumn("duration"), numberColumn("end")];
  const name = answer.columns.findIndex((column) => column.name === "name");
  const [node, ...otherNodes] = runOverview().clocks.nodes;
  if (start < 0 || (duration < 0 && end < 0) || !node?.start_ns || otherNodes.length) return null;
  const zero = BigInt(node.start_ns); // the timeline counts from the first event of the node
  return (row) => {
    const from = row[start];
    const until = duration >= 0 ? row[duration] : row[end];
    if (typeof from === "boolean" || typeof until === "boolean" || from == null || until == null) return null;
    const begin = Number(BigInt(from) - zero);
    const length = duration >= 0 ? Number(until) : Number(BigInt(until) - zero) - begin;
    return { name: typeof row[name] === "string" ? row[name] : "", begin, end: begin + length };
  };
}

/** Selects the time of a row and its kernel, and shows it with as much again on both sides. */
function showInTimeline({ name, begin, end }: TimedRow): void {
  select({ range: { begin, end } });
  if (name) selectKernel(name);
  show({ begin: 2 * begin - end, end: 2 * end - begin });
  frontView("run_timeline");
}
