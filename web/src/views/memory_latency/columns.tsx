// The tables of memory operations.
import { exact, percent } from "../../base/format";
import { costsNow } from "../../model/code";
import { BinsBar } from "../../widgets/bars";
import type { Column } from "../../widgets/data_table";
import { PlaceLink, RowLink } from "../../widgets/links";
import { type CounterRow, type LatencyRow, meaningOf } from "./shapes";

interface Placed {
  row: number;
  text: string;
  file: string | null;
  line: number | null;
}

function first<Row extends Placed>(): Column<Row>[] {
  return [
    { name: "row", title: "Row", hint: "Code row", value: (r) => r.row, width: "4em" },
    {
      name: "text",
      title: "Instruction",
      value: (r) => r.text,
      show: (r) => <RowLink row={r.row} text={r.text} />,
      width: "minmax(14em, 2fr)",
    },
  ];
}

function last<Row extends Placed>(): Column<Row>[] {
  return [
    {
      name: "hidden_share",
      title: "Hidden",
      hint: "Latency and idle of this instruction that work of other waves hid, of all of it",
      value: (r) => hiddenShare(r.row),
      show: (r) => percent(hiddenShare(r.row)),
      width: "5em",
    },
    {
      name: "file",
      title: "Line",
      value: (r) => (r.file ? `${r.file}:${r.line}` : ""),
      show: (r) => <PlaceLink file={r.file} line={r.line} row={r.row} />,
      width: "minmax(8em, 1fr)",
    },
  ];
}

function hiddenShare(row: number): number | null {
  const costs = costsNow();
  const total = costs ? (costs.latency[row] ?? 0) + (costs.idle[row] ?? 0) : 0;
  return costs && total ? (costs.hidden[row] ?? 0) / total : null;
}

const cycles = (value: number | null) => exact(value);

export function waitColumns(bin: number): Column<LatencyRow>[] {
  return [
    ...first<LatencyRow>(),
    { name: "kind", title: "Kind", value: (r) => r.kind, width: "7em" },
    {
      name: "latency_cycles_mean",
      title: "Mean",
      hint: "Mean cycles from issue to the end of the wait that drained it; ≤ = upper bound, no sample is exact",
      value: (r) => r.latency_cycles_mean,
      show: (r) => `${r.is_bound ? "≤ " : ""}${cycles(r.latency_cycles_mean)}`,
      width: "5.5em",
    },
    {
      name: "latency_cycles_sd",
      title: "± sd",
      hint: "Standard deviation, in cycles",
      value: (r) => r.latency_cycles_sd,
      show: (r) => cycles(r.latency_cycles_sd),
      width: "4.5em",
    },
    { name: "latency_cycles_p50", title: "Median", hint: "Cycles", value: (r) => r.latency_cycles_p50, width: "5em" },
    {
      name: "latency_cycles_p95",
      title: "p95",
      hint: "Cycles that 95 % of the samples do not exceed",
      value: (r) => r.latency_cycles_p95,
      width: "4.5em",
    },
    {
      name: "distribution",
      title: "Distribution",
      hint: `Samples in bins of ${exact(bin)} cycles from 0; the last bin has the rest`,
      value: (r) => (r.distribution ?? []).join(" "),
      show: (r) => <BinsBar counts={r.distribution ?? []} meaning={meaningOf(r)} label="Distribution" />,
      width: "7em",
    },
    {
      name: "sample_count",
      title: "Samples",
      hint: "Executions whose wait is known",
      value: (r) => r.sample_count,
      width: "5.5em",
    },
    {
      name: "tight_count",
      title: "Exact",
      hint: "Samples that ended their wait: their latency is exact",
      value: (r) => r.tight_count,
      width: "5em",
    },
    ...last<LatencyRow>(),
  ];
}

export function counterColumns(): Column<CounterRow>[] {
  return [
    ...first<CounterRow>(),
    { name: "counter", title: "Counter", value: (r) => r.counter, width: "12em" },
    {
      name: "latency_cycles_mean",
      title: "Mean",
      hint: "Mean cycles from issue to the first counter sample by which it was done",
      value: (r) => r.latency_cycles_mean,
      width: "5em",
    },
    {
      name: "latency_cycles_sd",
      title: "± sd",
      hint: "Standard deviation, in cycles",
      value: (r) => r.latency_cycles_sd,
      width: "4.5em",
    },
    {
      name: "error_cycles",
      title: "± error",
      hint: "Error of the mean: sqrt(sd² + interval² / 3) / sqrt(n - 1.5)",
      value: (r) => r.error_cycles,
      width: "5em",
    },
    { name: "sample_count", title: "Samples", value: (r) => r.sample_count, width: "5.5em" },
    {
      name: "stall_cycles_mean",
      title: "Stall",
      hint: "Mean cycles before issue",
      value: (r) => r.stall_cycles_mean,
      width: "5em",
    },
    {
      name: "issue_cycles_mean",
      title: "Issue",
      hint: "Mean cycles of issue",
      value: (r) => r.issue_cycles_mean,
      width: "5em",
    },
    ...last<CounterRow>(),
  ];
}
