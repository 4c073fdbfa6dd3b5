// Columns of tables of answers: a name with its unit tells how a figure looks, the answer tells what it means.
import { exact, nanoseconds, percent, short } from "../base/format";
import { ShareBar } from "./bars";
import type { Cell, Column } from "./data_table";
import "./figure_columns.css";

/** How a cell looks: exact numbers, numbers that are names, durations, points in time, shares of 1 with or without a bar, bytes, factors. */
export type Look = "text" | "count" | "id" | "ns" | "share" | "bar" | "bytes" | "factor" | "change";

export type Described = [name: string, title: string, look: Look, width?: string];

/** How often something ran and how long it took: the columns that tables of kernels and summaries share. */
export const DURATIONS: Described[] = [
  ["share", "Share", "bar"],
  ["calls", "Calls", "count", "5em"],
  ["total_ns", "Total", "ns"],
  ["mean_ns", "Mean", "ns"],
  ["median_ns", "Median", "ns"],
  ["p95_ns", "p95", "ns"],
  ["p99_ns", "p99", "ns"],
  ["min_ns", "Min", "ns"],
  ["max_ns", "Max", "ns"],
];

const WIDTHS: Record<Look, string> = {
  text: "minmax(8em, 1fr)",
  count: "6em",
  id: "6em",
  ns: "7em",
  share: "5em",
  bar: "9em",
  bytes: "6em",
  factor: "5em",
  change: "6em",
};

/** A number as it is shown; the exact one is in the tooltip. */
export function Looked({ value, look }: { value: Cell; look: Look }) {
  if (value === null || value === undefined) return <span class="faint-text">–</span>;
  if (typeof value !== "number") return <>{value}</>;
  switch (look) {
    case "ns":
      return <span title={`${exact(value)} ns`}>{nanoseconds(value)}</span>;
    case "id":
      return <>{String(value)}</>;
    case "share":
      return <span title={String(value)}>{percent(value)}</span>;
    case "bar":
      return (
        <span class="share-cell" title={String(value)}>
          <ShareBar share={value} meaning="issue" label={percent(value)} />
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
      return <>{Number.isInteger(value) ? exact(value) : value.toFixed(2)}</>;
  }
}

/** Columns whose names are those of the rows. */
export function figureColumns<Row extends object>(
  hints: Record<string, string>,
  described: Described[],
): Column<Row>[] {
  return described.map(([name, title, look, width]) => {
    const value = (row: Row) => {
      const cell = (row as Record<string, unknown>)[name];
      return typeof cell === "boolean" ? (cell ? "yes" : "no") : ((cell ?? null) as Cell);
    };
    return {
      name,
      title,
      hint: hints[name] ?? title,
      value,
      show: (row) => <Looked value={value(row)} look={look} />,
      width: width ?? WIDTHS[look],
    };
  });
}
