// The tables of the coverage.
import {
  COVERAGE_ENGINES,
  COVERAGE_FUNCTIONS,
  COVERAGE_OUTLIERS,
  COVERAGE_PATHS,
  type CoverageEnginesRow,
  type CoverageFunctionsRow,
  type CoverageOutliersRow,
  type CoveragePathsRow,
} from "../../data/answers.gen";
import { Chip } from "../../widgets/cards";
import { figureColumns } from "../../widgets/figure_columns";
import { WaveLink } from "../../widgets/links";

export const ENGINES = figureColumns<CoverageEnginesRow>(COVERAGE_ENGINES, [
  ["se"],
  ["cu", "Traced CU"],
  ["wave_count", "Traced waves"],
  ["instruction_count"],
  ["all_wave_count"],
  ["traced_share", "Traced"],
  ["target_duration_cycles_mean", "Duration here"],
  ["other_duration_cycles_mean", "Duration elsewhere"],
]);

function kindOf(path: CoveragePathsRow): string {
  if (!path.instruction_count_max) return "no traced instructions";
  return path.early_exit ? "early exit" : "";
}

export const PATHS = figureColumns<CoveragePathsRow>(COVERAGE_PATHS, [
  ["path"],
  {
    name: "early_exit",
    title: "",
    value: kindOf,
    show: (path) => (kindOf(path) ? <Chip tone="care">{kindOf(path)}</Chip> : null),
  },
  ["wave_count"],
  ["cycles_share", "Of all wave cycles", "bar"],
  ["distinct_row_count", "Rows"],
  ["instruction_count_median", "Instructions"],
  ["duration_cycles_median", "Duration"],
  ["duration_cycles_max", "Longest"],
  { name: "first_wave", title: "Example", show: (path) => <WaveLink wave={path.first_wave} /> },
  { name: "kernel", value: (path) => path.kernel ?? "not known" },
]);

export const OUTLIERS = figureColumns<CoverageOutliersRow>(COVERAGE_OUTLIERS, [
  { name: "wave", show: (outlier) => <WaveLink wave={outlier.wave} /> },
  ["cycles_per_instruction_ratio", "Ratio", "factor"],
  ["path"],
  ["se"],
  ["simd"],
  ["slot"],
  ["instruction_count"],
  ["duration_cycles", "Duration"],
]);

export const FUNCTIONS = figureColumns<CoverageFunctionsRow>(COVERAGE_FUNCTIONS, [
  ["function"],
  ["executed_share", "Executed"],
  ["executed_row_count", "Rows executed"],
  ["row_count", "Rows"],
  ["hit_count"],
]);
