// The traced waves as a table: where, how long, how many instructions, how much stall. A click makes one the target.
import { useMemo } from "preact/hooks";
import { exact, percent } from "../base/format";
import { arrow } from "../data/ask";
import type { Columns } from "../data/columns";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { preview, selection } from "../model/selection";
import { reveal } from "../model/timewindow";
import type { View } from "../model/view";
import { selectWave } from "../model/waves";
import { Answered } from "../widgets/answered";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { SaveMenu } from "../widgets/saving";

interface Wave {
  wave: number;
  se: number;
  cu: number;
  simd: number;
  slot: number;
  begin: number;
  duration: number;
  instructions: number;
  stall: number;
}

const COLUMNS: Column<Wave>[] = [
  { name: "wave", title: "Wave", value: (w) => w.wave, width: "4em" },
  { name: "se", title: "SE", hint: "Shader engine", value: (w) => w.se, width: "3em" },
  { name: "cu", title: "CU", hint: "Compute unit, or WGP", value: (w) => w.cu, width: "3em" },
  { name: "simd", title: "SIMD", value: (w) => w.simd, width: "4em" },
  { name: "slot", title: "Slot", value: (w) => w.slot, width: "4em" },
  {
    name: "start_cycles",
    title: "Begin",
    hint: "First cycle, on the common clock",
    value: (w) => w.begin,
    width: "8em",
  },
  {
    name: "duration_cycles",
    title: "Duration",
    hint: "Cycles from begin to end",
    value: (w) => w.duration,
    width: "7em",
  },
  { name: "instruction_count", title: "Instructions", value: (w) => w.instructions, width: "7em" },
  {
    name: "stall_share",
    title: "Stall",
    hint: "Stall cycles of its instructions / its duration",
    value: (w) => (w.duration ? w.stall / w.duration : null),
    show: (w) => percent(w.duration ? w.stall / w.duration : null),
    width: "6em",
  },
];

function rowsOf(table: Columns): Wave[] {
  const [wave, se, cu, simd, slot] = ["wave", "se", "cu", "simd", "slot"].map((name) => table.numbers(name));
  const [begin, end] = [table.numbers("start_cycles"), table.numbers("end_cycles")];
  const [instructions, stall] = [table.numbers("instruction_count"), table.numbers("stall_cycles_total")];
  const at = (values: ArrayLike<number> | undefined, i: number) => values?.[i] ?? Number.NaN;
  return Array.from({ length: table.length }, (_, i) => ({
    wave: at(wave, i),
    se: at(se, i),
    cu: at(cu, i),
    simd: at(simd, i),
    slot: at(slot, i),
    begin: at(begin, i),
    duration: at(end, i) - at(begin, i),
    instructions: at(instructions, i),
    stall: at(stall, i),
  }));
}

function Waves() {
  const answer = useAnswer(arrow(current.value, "waves"));
  return <Answered answer={answer}>{(table) => <Table table={table} />}</Answered>;
}

function Table({ table }: { table: Columns }) {
  const rows = useMemo(() => rowsOf(table), [table]);
  return (
    <div class="view">
      <div class="toolbar">
        <span>{exact(rows.length)} waves</span>
        <SaveMenu name="waves" offers={[tableOffer(COLUMNS, () => rows)]} />
      </div>
      <DataTable
        label="Traced waves"
        columns={COLUMNS}
        rows={rows}
        isSelected={(wave) => wave.wave === selection.value.wave}
        onSelect={(wave) => {
          selectWave(wave.wave);
          reveal(wave.begin);
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
  hint: "The traced waves: where they ran, how long, and how much of it they stalled",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.wave_count ? "" : "no wave ran on the traced CU"),
  component: Waves,
};
