// The table of memory instructions.
import { exact, percent } from "../../base/format";
import { LANES, type LanesRow } from "../../data/answers.gen";
import { excessOf, laneHeat } from "../../model/lanes";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import type { Column } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";

const ofCost = (pick: (row: LanesRow) => number | null) => (row: LanesRow) => (row.cost_known_count ? pick(row) : null);

function costColumn(name: string, title: string, hint: string, pick: (row: LanesRow) => number | null) {
  const value = ofCost(pick);
  const show = (row: LanesRow) =>
    value(row) === null ? (
      <span class="faint-text">–</span>
    ) : (
      <span class="lane-heat" style={{ "--heat": laneHeat(row).toFixed(3) }}>
        {exact(value(row))}
      </span>
    );
  return { name, title, hint, value, show, width: "8em" };
}

const COLUMNS: Column<LanesRow>[] = figureColumns<LanesRow>(LANES, [
  ["row", "Row", "id", "4em"],
  instructionColumn<LanesRow>("Instruction", (row) => row.row, "minmax(14em, 2fr)"),
  costColumn(
    "extra_cycles_total",
    "Extra cycles",
    "LDS cycles lost to bank conflicts, over all executions whose cost is known",
    (row) => row.extra_cycles_total,
  ),
  {
    name: "ideal_cycles_total",
    title: "Ideal",
    hint: "LDS cycles without conflicts: phases with an active lane",
    value: ofCost((row) => row.ideal_cycles_total),
    width: "5em",
  },
  costColumn(
    "segment_excess",
    "Extra segments",
    "Cache segments touched beyond the least, over all executions whose cost is known",
    (row) => (row.space === "lds" ? null : excessOf(row)),
  ),
  {
    name: "least_segment_count_total",
    title: "Least",
    hint: "Cache segments if each lane's bytes lay side by side",
    value: ofCost((row) => row.least_segment_count_total),
    width: "5em",
  },
  {
    name: "known_share",
    title: "Known",
    hint: "Executions whose lane addresses are certain, of all",
    value: (row) => row.known_count / row.execution_count,
    show: (row) => percent(row.known_count / row.execution_count),
    width: "5em",
  },
  ["active_lane_share", "Active", "share", "5em"],
  ["execution_count", "Executions", "count", "6em"],
  ["confidence", "Rule", "text", "8.5em"],
  ["reason", "Not known because", "text", "minmax(10em, 2fr)"],
  lineColumn<LanesRow>((row) => row.row, "minmax(7em, 1fr)"),
]);

const COSTS = new Set(["extra_cycles_total", "ideal_cycles_total", "segment_excess", "least_segment_count_total"]);

/** All columns but those of costs that are known of no row. */
export function columnsFor(rows: LanesRow[]): Column<LanesRow>[] {
  return COLUMNS.filter(({ name, value }) => !COSTS.has(name) || rows.some((row) => value(row) !== null));
}
