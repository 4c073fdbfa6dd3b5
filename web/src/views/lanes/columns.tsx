// The table of memory instructions.
import { exact, percent } from "../../base/format";
import type { LanesRow } from "../../data/answers.gen";
import { excessOf, laneHeat } from "../../model/lanes";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import type { Column } from "../../widgets/data_table";

type Pick = (row: LanesRow) => number | null;

/** A cost: empty where it is not known; `isHeated` = on a ground as warm as it is large. */
function cost(name: string, title: string, hint: string, pick: Pick, isHeated = false): Column<LanesRow> {
  const value: Pick = (row) => (row.cost_known_count ? pick(row) : null);
  const show = (row: LanesRow) =>
    isHeated && value(row) !== null ? (
      <span class="heat" style={{ "--heat": laneHeat(row).toFixed(3) }}>
        {exact(value(row))}
      </span>
    ) : (
      exact(value(row))
    );
  return { name, title, hint, value, show, width: isHeated ? "8em" : "5em" };
}

function share(name: string, title: string, hint: string, value: Pick): Column<LanesRow> {
  return { name, title, hint, value, show: (row) => percent(value(row)), width: "5em" };
}

const COSTS: Column<LanesRow>[] = [
  cost(
    "extra_cycles_total",
    "Extra cycles",
    "LDS cycles lost to bank conflicts, over the executions whose cost is known",
    (row) => row.extra_cycles_total,
    true,
  ),
  cost("ideal_cycles_total", "Ideal", "LDS cycles without conflicts", (row) => row.ideal_cycles_total),
  cost(
    "segment_excess",
    "Extra segments",
    "Cache segments beyond the least, over the executions whose cost is known",
    (row) => (row.space === "lds" ? null : excessOf(row)),
    true,
  ),
  cost(
    "least_segment_count_total",
    "Least",
    "Cache segments if each lane's bytes lay side by side",
    (row) => row.least_segment_count_total,
  ),
];

/** The columns; costs that are known of no row have none. */
export function columnsFor(rows: LanesRow[]): Column<LanesRow>[] {
  return [
    { name: "row", title: "Row", value: (row) => row.row, show: (row) => row.row, width: "4em" },
    instructionColumn("Instruction", (row) => row.row, "minmax(14em, 2fr)"),
    ...COSTS.filter(({ value }) => rows.some((row) => value(row) !== null)),
    share(
      "known_share",
      "Known",
      "Executions whose lane addresses are certain",
      (r) => r.known_count / r.execution_count,
    ),
    share("active_lane_share", "Active", "Active lanes of all, mean", (row) => row.active_lane_share),
    { name: "execution_count", title: "Executions", value: (row) => row.execution_count, width: "6em" },
    { name: "confidence", title: "Rule", hint: "How sure the rule is", value: (row) => row.confidence, width: "8.5em" },
    { name: "reason", title: "Not known because", value: (row) => row.reason, width: "minmax(10em, 2fr)" },
    lineColumn((row) => row.row, "minmax(7em, 1fr)"),
  ];
}
