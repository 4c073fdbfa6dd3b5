// The tables of memory operations.
import { exact, percent } from "../../base/format";
import {
  MEMORY_LATENCY_BY_ROW,
  MEMORY_LATENCY_FROM_COUNTERS,
  type MemoryLatencyByRowRow,
  type MemoryLatencyFromCountersRow,
} from "../../data/answers.gen";
import { costsNow } from "../../model/code";
import { BinsBar } from "../../widgets/bars";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import type { Column } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";

/** The pipe of a memory operation, whose colour it has: LDS, scalar or vector memory. */
export function pipeOf(row: MemoryLatencyByRowRow): string {
  if (row.kind.startsWith("scalar")) return "SMEM";
  return row.kind.includes("LDS") ? "LDS" : "VMEM";
}

const instruction = <Row extends { row: number; text: string }>() =>
  instructionColumn<Row>("Instruction", (row) => row.row, "minmax(14em, 2fr)");

const line = <Row extends { row: number; file: string | null; line: number | null }>() =>
  lineColumn<Row>((row) => row.row, "minmax(8em, 1fr)");

function hiddenColumn<Row extends { row: number }>(): Column<Row> {
  return {
    name: "hidden_share",
    title: "Hidden",
    hint: "Share of this instruction's latency and idle that other waves hid",
    value: (row) => hiddenShare(row.row),
    show: (row) => percent(hiddenShare(row.row)),
    width: "5em",
  };
}

function hiddenShare(row: number): number | null {
  const costs = costsNow();
  const total = costs ? (costs.latency[row] ?? 0) + (costs.idle[row] ?? 0) : 0;
  return costs && total ? (costs.hidden[row] ?? 0) / total : null;
}

export function waitColumns(bin: number): Column<MemoryLatencyByRowRow>[] {
  return figureColumns<MemoryLatencyByRowRow>(MEMORY_LATENCY_BY_ROW, [
    ["row", "Row", "id", "4em"],
    instruction(),
    ["kind", "Kind", "text", "7em"],
    {
      name: "latency_cycles_mean",
      title: "Mean",
      show: (row) => `${row.is_bound ? "≤ " : ""}${exact(row.latency_cycles_mean)}`,
      width: "5.5em",
    },
    ["latency_cycles_sd", "± sd", "cycles", "4.5em"],
    ["latency_cycles_p50", "Median", "cycles", "5em"],
    ["latency_cycles_p95", "p95", "cycles", "4.5em"],
    {
      name: "distribution",
      hint: `Samples in bins of ${exact(bin)} cycles from 0; the last bin has the rest`,
      value: (row) => (row.distribution ?? []).join(" "),
      show: (row) => <BinsBar counts={row.distribution ?? []} meaning={pipeOf(row)} label="Distribution" />,
      width: "7em",
    },
    ["sample_count", "Samples", "count", "5.5em"],
    ["tight_count", "Exact", "count", "5em"],
    hiddenColumn(),
    line(),
  ]);
}

export function counterColumns(): Column<MemoryLatencyFromCountersRow>[] {
  return figureColumns<MemoryLatencyFromCountersRow>(MEMORY_LATENCY_FROM_COUNTERS, [
    ["row", "Row", "id", "4em"],
    instruction(),
    ["counter", "Counter", "text", "12em"],
    ["latency_cycles_mean", "Mean", "cycles", "5em"],
    ["latency_cycles_sd", "± sd", "cycles", "4.5em"],
    ["error_cycles", "± error", "cycles", "5em"],
    ["sample_count", "Samples", "count", "5.5em"],
    ["stall_cycles_mean", "Stall", "cycles", "5em"],
    ["issue_cycles_mean", "Issue", "cycles", "5em"],
    hiddenColumn(),
    line(),
  ]);
}
