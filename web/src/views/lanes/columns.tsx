// The columns of the table of memory instructions: what their lanes cost, and how far that is known.
import { exact, percent } from "../../base/format";
import type { LanesRow } from "../../data/answers.gen";
import { excessOf, laneHeat } from "../../model/lanes";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import type { Column } from "../../widgets/data_table";

interface Figure {
  name: string;
  title: string;
  hint: string;
  /** null = not known of this row. */
  of: (row: LanesRow) => number | null;
  /** On a ground as warm as the number is large. */
  isHeated?: boolean;
}

/** A cost: its cell is empty where the cost of no execution is known. */
function costColumn({ name, title, hint, of, isHeated = false }: Figure): Column<LanesRow> {
  const value = (row: LanesRow) => (row.cost_known_count ? of(row) : null);
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

function shareColumn({ name, title, hint, of }: Figure): Column<LanesRow> {
  return { name, title, hint, value: of, show: (row) => percent(of(row)), width: "5em" };
}

const COSTS: Column<LanesRow>[] = [
  costColumn({
    name: "extra_cycles_total",
    title: "Extra cycles",
    hint: "LDS cycles lost to bank conflicts, over the executions whose cost is known",
    of: (row) => row.extra_cycles_total,
    isHeated: true,
  }),
  costColumn({
    name: "ideal_cycles_total",
    title: "Ideal",
    hint: "LDS cycles without conflicts",
    of: (row) => row.ideal_cycles_total,
  }),
  costColumn({
    name: "segment_excess",
    title: "Extra segments",
    hint: "Cache segments beyond the least, over the executions whose cost is known",
    of: (row) => (row.space === "lds" ? null : excessOf(row)),
    isHeated: true,
  }),
  costColumn({
    name: "least_segment_count_total",
    title: "Least",
    hint: "Cache segments if each lane's bytes lay side by side",
    of: (row) => row.least_segment_count_total,
  }),
];

const KNOWN = shareColumn({
  name: "known_share",
  title: "Known",
  hint: "Executions whose lane addresses are certain",
  of: (row) => row.known_count / row.execution_count,
});
const ACTIVE = shareColumn({
  name: "active_lane_share",
  title: "Active",
  hint: "Active lanes of all, mean",
  of: (row) => row.active_lane_share,
});

/** The columns; costs that are known of no row have none. */
export function columnsFor(rows: LanesRow[]): Column<LanesRow>[] {
  return [
    { name: "row", title: "Row", value: (row) => row.row, show: (row) => row.row, width: "4em" },
    instructionColumn("Instruction", (row) => row.row, "minmax(14em, 2fr)"),
    ...COSTS.filter(({ value }) => rows.some((row) => value(row) !== null)),
    KNOWN,
    ACTIVE,
    { name: "execution_count", title: "Executions", value: (row) => row.execution_count, width: "6em" },
    { name: "confidence", title: "Rule", hint: "How sure the rule is", value: (row) => row.confidence, width: "8.5em" },
    { name: "reason", title: "Not known because", value: (row) => row.reason, width: "minmax(10em, 2fr)" },
    lineColumn((row) => row.row, "minmax(7em, 1fr)"),
  ];
}
