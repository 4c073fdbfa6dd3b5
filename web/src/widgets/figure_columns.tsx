// Columns of the tables of answers. What a column means comes from its declaration (data/answers.gen.ts); a view says
// which columns it shows, in which order, under which short title, and what is drawn in a special way.
import { amount, exact, measured, nanoseconds, percent, short } from "../base/format";
import type { RunSummaryDomainsRow } from "../data/answers.gen";
import { type ColumnInfo, hintOf, type TableInfo } from "../data/tables";
import { ShareBar } from "./bars";
import type { Cell, Column } from "./data_table";
import { KernelName } from "./kernel_name";
import "./figure_columns.css";

/** How a cell is written; "id" is a number that is a name, "kernel" a name that is shortened, "bar" a share of 1 with a bar. */
export type Format =
  | "text"
  | "kernel"
  | "count"
  | "cycles"
  | "id"
  | "ns"
  | "share"
  | "bar"
  | "bytes"
  | "factor"
  | "change"
  | "measured";

/** A declared column in one line of a list; what is absent follows from its declaration. */
type Brief<Row> = readonly [name: keyof Row & string, title?: string, format?: Format, width?: string];
/** A declared column of which the view draws or computes something itself. */
type Drawn<Row> = Partial<Column<Row>> & { name: keyof Row & string; format?: Format };

/** A declared column of a table, or one that the view makes itself. */
export type ColumnChoice<Row> = Brief<Row> | Drawn<Row> | Column<Row>;

type Timed = Pick<
  RunSummaryDomainsRow,
  "share" | "calls" | "total_ns" | "mean_ns" | "median_ns" | "p95_ns" | "p99_ns" | "min_ns" | "max_ns"
>;

/** How often something ran and how long it took: the columns that tables of kernels and summaries share. */
export const DURATIONS: ColumnChoice<Timed>[] = [
  ["share", "Share", "bar"],
  ["calls", "Calls", "count", "5em"],
  ["total_ns", "Total"],
  ["mean_ns", "Mean"],
  ["median_ns", "Median"],
  ["p95_ns", "p95"],
  ["p99_ns", "p99"],
  ["min_ns", "Min"],
  ["max_ns", "Max"],
];

/** Room for a heading of so many characters, with the mark of its order. */
const HEAD_EM = { perCharacter: 0.6, beside: 1.4 };

/** The width of a format, or one given, or that of the heading where it is wider: neither is cut. */
export function widthOf(format: Format, title: string, width = WIDTHS[format]): string {
  const least = Math.ceil(10 * (title.length * HEAD_EM.perCharacter + HEAD_EM.beside)) / 10;
  return /^[\d.]+em$/.test(width) && Number.parseFloat(width) < least ? `${least}em` : width;
}

const WIDTHS: Record<Format, string> = {
  text: "minmax(8em, 1fr)",
  kernel: "minmax(8em, 1fr)",
  count: "6em",
  cycles: "6em",
  id: "6em",
  ns: "7em",
  share: "5em",
  bar: "9em",
  bytes: "6em",
  factor: "5em",
  change: "6em",
  measured: "7em",
};

/** A number as it is shown; the exact one is in the tooltip. */
export function FormattedCell({ value, format }: { value: Cell; format: Format }) {
  if (value === null || value === undefined) return <span class="faint-text">–</span>;
  if (format === "kernel" && typeof value === "string") return <KernelName name={value} />;
  if (typeof value !== "number") return <>{value}</>;
  switch (format) {
    case "ns":
      return <span title={`${exact(value)} ns`}>{nanoseconds(value)}</span>;
    case "id":
      return <>{String(value)}</>;
    case "cycles":
      return <>{amount(value)}</>;
    case "measured":
      return <>{measured(value)}</>;
    case "share":
      return <span title={String(value)}>{percent(value)}</span>;
    case "bar":
      return (
        <span class="share-cell" title={String(value)}>
          <ShareBar share={value} meaning="share" label={percent(value)} />
          <span>{percent(value)}</span>
        </span>
      );
    case "change":
      return <span title={String(value)}>{`${value > 0 ? "+" : ""}${percent(value)}`}</span>;
    case "bytes":
      return <span title={`${exact(value)} bytes`}>{value < 1000 ? `${short(value)} B` : `${short(value)}B`}</span>;
    case "factor":
      return <span title={String(value)}>{`${value.toFixed(2)} x`}</span>;
    default:
      return <>{Number.isInteger(value) ? amount(value) : value.toFixed(2)}</>;
  }
}

/** How a column is written when nothing else is said: by its unit, or its name where that says that it is a share. */
function formatOf(name: string, unit: string): Format {
  if (unit === "ns" || unit === "bytes" || unit === "cycles") return unit;
  return /(^|_)share(_|$)/.test(name) ? "share" : "count";
}

/** The chosen columns of a declared table. */
export function figureColumns<Row extends object>(table: TableInfo<Row>, chosen: ColumnChoice<Row>[]): Column<Row>[] {
  return chosen.map((choice) => {
    const drawn = "name" in choice ? (choice as Drawn<Row>) : briefly(choice as Brief<Row>);
    return figureColumn((table as Record<string, ColumnInfo>)[drawn.name], drawn);
  });
}

/** A column with its parts: those that the view gives, else those of the declaration; without one the name is the title. */
function figureColumn<Row extends object>(info: ColumnInfo | undefined, drawn: Drawn<Row>): Column<Row> {
  const { name, format: chosenFormat, ...parts } = drawn;
  const [declaredTitle = name, unit = ""] = info ?? [];
  const format = chosenFormat ?? formatOf(name, unit);
  const value = (row: Row): Cell => {
    const cell = (row as Record<string, unknown>)[name];
    return typeof cell === "boolean" ? (cell ? "yes" : "no") : ((cell ?? null) as Cell);
  };
  const show = (row: Row) => <FormattedCell value={value(row)} format={format} />;
  return {
    name,
    title: declaredTitle,
    ...(info ? { hint: hintOf(info) } : {}),
    value,
    ...(parts.value ? {} : { show }), // a value that the view computes is shown as it is
    ...parts,
    width: widthOf(format, parts.title ?? declaredTitle, parts.width),
  };
}

function briefly<Row>([name, title, format, width]: Brief<Row>): Drawn<Row> {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(format ? { format } : {}),
    ...(width ? { width } : {}),
  };
}

/** Columns for a file only: all by their names, nothing drawn. */
export function plainColumns<Row extends object>(names: readonly (keyof Row & string)[]): Column<Row>[] {
  return names.map((name) => ({ name, title: name, value: (row) => row[name] as Cell, width: "" }));
}
