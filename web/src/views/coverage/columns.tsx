// The tables of the coverage.
import { percent } from "../../base/format";
import { ShareBar } from "../../widgets/bars";
import { Chip } from "../../widgets/cards";
import type { Column } from "../../widgets/data_table";
import { WaveLink } from "../../widgets/links";
import type { EngineLine, FunctionLine, OutlierLine, PathLine } from "./shapes";

export const ENGINES: Column<EngineLine>[] = [
  { name: "se", title: "SE", hint: "Shader engine", value: (e) => e.se, width: "" },
  { name: "cu", title: "Traced CU", hint: "Traced compute units, or WGPs", value: (e) => e.cu, width: "" },
  { name: "wave_count", title: "Traced waves", value: (e) => e.wave_count, width: "" },
  { name: "instruction_count", title: "Instructions", value: (e) => e.instruction_count, width: "" },
  {
    name: "all_wave_count",
    title: "All waves",
    hint: "Waves that started on any of its CUs (occupancy events)",
    value: (e) => e.all_wave_count,
    width: "",
  },
  {
    name: "traced_share",
    title: "Traced",
    hint: "Traced waves / all waves",
    value: (e) => e.traced_share,
    show: (e) => percent(e.traced_share),
    width: "",
  },
  {
    name: "target_duration_cycles_mean",
    title: "Stay here",
    hint: "Mean cycles that waves stayed on the traced CUs",
    value: (e) => e.target_duration_cycles_mean,
    width: "",
  },
  {
    name: "other_duration_cycles_mean",
    title: "Stay elsewhere",
    hint: "Mean cycles that waves stayed on the other CUs",
    value: (e) => e.other_duration_cycles_mean,
    width: "",
  },
];

export const PATHS: Column<PathLine>[] = [
  { name: "path", title: "Path", hint: "Most wave cycles first", value: (p) => p.path, width: "" },
  {
    name: "early_exit",
    title: "",
    value: (p) => (p.early_exit ? "early exit" : ""),
    show: (p) => (p.early_exit ? <Chip tone="care">early exit</Chip> : null),
    width: "",
  },
  { name: "wave_count", title: "Waves", value: (p) => p.wave_count, width: "" },
  {
    name: "cycles_share",
    title: "Of all wave cycles",
    value: (p) => p.cycles_share,
    show: (p) => (
      <div class="with-bar">
        <ShareBar share={p.cycles_share} meaning="issue" label={percent(p.cycles_share)} />
        {percent(p.cycles_share)}
      </div>
    ),
    width: "",
  },
  {
    name: "distinct_row_count",
    title: "Rows",
    hint: "Different instructions of the path",
    value: (p) => p.distinct_row_count,
    width: "",
  },
  {
    name: "instruction_count_median",
    title: "Instructions",
    hint: "Median of the instructions per wave",
    value: (p) => p.instruction_count_median,
    width: "",
  },
  {
    name: "duration_cycles_median",
    title: "Duration",
    hint: "Median cycles from begin to end",
    value: (p) => p.duration_cycles_median,
    width: "",
  },
  {
    name: "duration_cycles_max",
    title: "Longest",
    hint: "Cycles of the longest wave",
    value: (p) => p.duration_cycles_max,
    width: "",
  },
  {
    name: "first_wave",
    title: "Example",
    value: (p) => p.first_wave,
    show: (p) => <WaveLink wave={p.first_wave} />,
    width: "",
  },
  { name: "kernel", title: "Kernel", value: (p) => p.kernel ?? "not known", width: "" },
];

export const OUTLIERS: Column<OutlierLine>[] = [
  { name: "wave", title: "Wave", value: (o) => o.wave, show: (o) => <WaveLink wave={o.wave} />, width: "" },
  {
    name: "cycles_per_instruction_ratio",
    title: "Ratio",
    hint: "Its cycles per instruction / the median of its path",
    value: (o) => o.cycles_per_instruction_ratio,
    show: (o) => `${o.cycles_per_instruction_ratio.toFixed(2)} ×`,
    width: "",
  },
  { name: "path", title: "Path", value: (o) => o.path, width: "" },
  { name: "se", title: "SE", value: (o) => o.se, width: "" },
  { name: "simd", title: "SIMD", value: (o) => o.simd, width: "" },
  { name: "slot", title: "Slot", value: (o) => o.slot, width: "" },
  { name: "instruction_count", title: "Instructions", value: (o) => o.instruction_count, width: "" },
  { name: "duration_cycles", title: "Duration", hint: "Cycles", value: (o) => o.duration_cycles, width: "" },
];

export const FUNCTIONS: Column<FunctionLine>[] = [
  { name: "function", title: "Function", value: (f) => f.function, width: "" },
  {
    name: "executed_share",
    title: "Executed",
    hint: "Rows that ran / its rows",
    value: (f) => f.executed_share,
    show: (f) => percent(f.executed_share),
    width: "",
  },
  { name: "executed_row_count", title: "Rows run", value: (f) => f.executed_row_count, width: "" },
  { name: "row_count", title: "Rows", value: (f) => f.row_count, width: "" },
  { name: "hit_count", title: "Hits", hint: "Executions of its rows", value: (f) => f.hit_count, width: "" },
];
