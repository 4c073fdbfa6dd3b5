// The tables of barriers.
import { BARRIERS, BARRIERS_CAUSES, type BarriersCausesRow, type BarriersRow } from "../../data/answers.gen";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import { figureColumns } from "../../widgets/figure_columns";

export const ROWS = figureColumns<BarriersRow>(BARRIERS, [
  instructionColumn("Barrier", (barrier) => barrier.row),
  lineColumn((barrier) => barrier.row),
  ["meeting_count", "Meetings"],
  ["waves_per_meeting", "Waves"],
  ["spread_cycles_mean", "Spread"],
  ["spread_cycles_max", "Worst spread"],
  ["lost_cycles_total", "Lost"],
  ["late_cycles_total", "Late"],
  ["stall_cycles_total", "Stall"],
  ["execution_count", "Executions"],
]);

export const CAUSES = figureColumns<BarriersCausesRow>(BARRIERS_CAUSES, [
  instructionColumn("Before the barrier", (cause) => cause.cause_row),
  ["excess_cycles_mean", "Extra", "measured"],
  ["last_cycles_mean", "Last wave", "measured"],
  ["other_cycles_mean", "Others", "measured"],
  lineColumn((cause) => cause.cause_row),
]);
