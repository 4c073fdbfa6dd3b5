// The tables of barriers.
import type { Column } from "../../widgets/data_table";
import { PlaceLink, RowLink } from "../../widgets/links";
import type { BarrierRow, Cause } from "./shapes";

export const ROWS: Column<BarrierRow>[] = [
  {
    name: "text",
    title: "Barrier",
    value: (b) => b.text,
    show: (b) => <RowLink row={b.row} text={b.text} />,
    width: "",
  },
  {
    name: "file",
    title: "Line",
    value: (b) => (b.file ? `${b.file}:${b.line}` : ""),
    show: (b) => <PlaceLink file={b.file} line={b.line} row={b.row} />,
    width: "",
  },
  {
    name: "meeting_count",
    title: "Meetings",
    hint: "Times that a workgroup of two or more traced waves passed it",
    value: (b) => b.meeting_count,
    width: "",
  },
  {
    name: "waves_per_meeting",
    title: "Waves",
    hint: "Mean number of traced waves in a meeting",
    value: (b) => b.waves_per_meeting,
    show: (b) => b.waves_per_meeting?.toFixed(1),
    width: "",
  },
  {
    name: "spread_cycles_mean",
    title: "Spread",
    hint: "Mean cycles from the first to the last arrival",
    value: (b) => b.spread_cycles_mean,
    width: "",
  },
  { name: "spread_cycles_max", title: "Worst", hint: "Largest spread", value: (b) => b.spread_cycles_max, width: "" },
  {
    name: "lost_cycles_total",
    title: "Lost",
    hint: "Cycles that waves waited for the last one, over all meetings",
    value: (b) => b.lost_cycles_total,
    width: "",
  },
  {
    name: "late_cycles_total",
    title: "Late",
    hint: "Cycles by which the last wave was later than the one before: what an even last wave would gain",
    value: (b) => b.late_cycles_total,
    width: "",
  },
  {
    name: "stall_cycles_total",
    title: "Stall",
    hint: "Stall of its executions",
    value: (b) => b.stall_cycles_total,
    width: "",
  },
  { name: "execution_count", title: "Executions", value: (b) => b.execution_count, width: "" },
];

const mean = (value: number) => value.toFixed(1);
export const CAUSES: Column<Cause>[] = [
  {
    name: "text",
    title: "On the way to it",
    value: (c) => c.text,
    show: (c) => <RowLink row={c.cause_row} text={c.text} />,
    width: "",
  },
  {
    name: "excess_cycles_mean",
    title: "More by",
    hint: "Cycles that the last wave spent here beyond the others, per meeting",
    value: (c) => c.excess_cycles_mean,
    show: (c) => mean(c.excess_cycles_mean),
    width: "",
  },
  {
    name: "last_cycles_mean",
    title: "Last wave",
    value: (c) => c.last_cycles_mean,
    show: (c) => mean(c.last_cycles_mean),
    width: "",
  },
  {
    name: "other_cycles_mean",
    title: "Others",
    value: (c) => c.other_cycles_mean,
    show: (c) => mean(c.other_cycles_mean),
    width: "",
  },
  {
    name: "file",
    title: "Line",
    value: (c) => (c.file ? `${c.file}:${c.line}` : ""),
    show: (c) => <PlaceLink file={c.file} line={c.line} row={c.cause_row} />,
    width: "",
  },
];
