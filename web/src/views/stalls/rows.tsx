// The instructions of one class of stalls.
import { groupBy } from "../../base/group";
import { STALL_ROWS, type StallRowsRow } from "../../data/answers.gen";
import type { Columns } from "../../data/columns";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import { figureColumns } from "../../widgets/figure_columns";

export function rowsByClass(table: Columns): Map<string, StallRowsRow[]> {
  return groupBy(table.rows<StallRowsRow>(), (row) => row.class);
}

export const COLUMNS = figureColumns<StallRowsRow>(STALL_ROWS, [
  instructionColumn("Instruction", (stall) => stall.row),
  ["stall_cycles_total", "Stall"],
  ["stall_share", "Share"],
  ["exposed_stall_cycles_total", "Exposed"],
  ["execution_count", "Executions"],
  ["stalled_count", "Stalled"],
  lineColumn((stall) => stall.row),
]);
