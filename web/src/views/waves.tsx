// The traced waves as a table: where, how long, how many instructions, how much stall. A click makes one the target.
import { useMemo } from "preact/hooks";
import { counted, exact, percent } from "../base/format";
import { ASKED, WAVES, type WavesRow } from "../data/answers.gen";
import { arrow } from "../data/ask";
import type { Columns } from "../data/columns";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { preview, selection } from "../model/selection";
import { axisOrigin, reveal } from "../model/timewindow";
import type { View } from "../model/view";
import { selectWave } from "../model/waves";
import { Answered } from "../widgets/answered";
import { DataTable, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { SaveMenu } from "../widgets/saving";

/** Times as the time axis counts them, from `origin`; what is saved has the times of the data. */
const columnsFrom = (origin: number) =>
  figureColumns<WavesRow>(WAVES, [
    ["wave", "Wave", "id", "4em"],
    ["se", "SE", "id", "3em"],
    ["cu", "CU", "id", "3em"],
    ["simd", "SIMD", "id", "4em"],
    ["slot", "Slot", "id", "4em"],
    { name: "start_cycles", title: "Start", show: (wave) => exact(wave.start_cycles - origin), width: "8em" },
    { name: "duration_cycles", title: "Duration", hint: "Cycles from start to end", value: durationOf, width: "7em" },
    ["instruction_count", "Instructions", "count", "7em"],
    {
      name: "stall_share",
      title: "Stall",
      hint: "Stall cycles of its instructions / its duration",
      value: stallShare,
      show: (wave) => percent(stallShare(wave)),
      width: "6em",
    },
  ]);

function durationOf(wave: WavesRow): number {
  return wave.end_cycles - wave.start_cycles;
}

function stallShare(wave: WavesRow): number | null {
  return durationOf(wave) ? wave.stall_cycles_total / durationOf(wave) : null;
}

function Waves() {
  const answer = useAnswer(arrow(current.value, "waves"));
  return <Answered answer={answer}>{(table) => <Table table={table} />}</Answered>;
}

function Table({ table }: { table: Columns }) {
  const rows = useMemo(() => table.rows<WavesRow>(), [table]);
  const origin = axisOrigin.value;
  const columns = useMemo(() => columnsFrom(origin), [origin]);
  return (
    <div class="view">
      <div class="toolbar">
        <span>{counted(rows.length, "waves")}</span>
        <span class="faint-text" data-counted-from={origin}>
          start since {origin ? `cycle ${exact(origin)}, the first of the trace` : "cycle 0"}, as on the time axis
        </span>
        <SaveMenu name="waves" offers={[tableOffer(columns, () => rows)]} />
      </div>
      <DataTable
        label="Traced waves"
        columns={columns}
        rows={rows}
        isSelected={(wave) => wave.wave === selection.value.wave}
        onSelect={(wave) => {
          selectWave(wave.wave);
          reveal(wave.start_cycles);
        }}
        onHover={(wave) => {
          preview.value = wave ? { wave: wave.wave } : {};
        }}
      />
    </div>
  );
}

export const waves: View = {
  id: "waves",
  title: "Waves",
  hint: ASKED.waves,
  about: "trace",
  time: "whole",
  missing: (overview) => (overview.kind === "trace" && overview.wave_count ? "" : "no wave ran on the traced CU"),
  component: Waves,
};
