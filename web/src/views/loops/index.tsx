// The loops: how often they run, what an iteration costs, how iterations of one wave differ.
import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { ASKED, LOOPS, type LoopsAnswer, type LoopsRow } from "../../data/answers.gen";
import { loopChange } from "../../model/changes";
import { selectRow } from "../../model/code";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { iterationsOf, loopAround, loopsAnswer } from "../../model/loops";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { waveOf } from "../../model/wave_data";
import { targetWave } from "../../model/waves";
import { Answered, Nothing } from "../../widgets/answered";
import { withChanges } from "../../widgets/changes";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { WavePicker } from "../../widgets/wave_picker";
import "./loops.css";
import { Overlay, paintOverlay } from "./overlay";
import { paintStrip, Strip } from "./strip";

/** Columns that need no measured instruction. */
const OF_THE_CODE = figureColumns<LoopsRow>(LOOPS, [
  ["loop", "Loop", "id", "3em"],
  {
    name: "rows",
    title: "Rows",
    hint: "First and last row of the loop; inner loops are indented",
    value: (loop) => `${loop.first_row}–${loop.last_row}`,
    show: (loop) => (
      <span style={{ paddingLeft: `${loop.depth}em` }}>
        {loop.depth ? "↳ " : ""}
        {loop.first_row}–{loop.last_row}
      </span>
    ),
    width: "minmax(6.5em, 1fr)",
  },
  {
    name: "place",
    title: "Source",
    hint: "File that most of its rows come from, with the first and last line",
    value: linesOf,
    show: (loop) => linesOf(loop).split("/").at(-1),
    width: "minmax(8em, 1.4fr)",
  },
]);

const MEASURED = figureColumns<LoopsRow>(LOOPS, [
  ["iteration_count", "Iterations", "count", "5.5em"],
  ["trips_min", "Trips min", "cycles", "5.5em"],
  ["trips_median", "median", "cycles", "5.5em"],
  ["trips_max", "max", "cycles", "5.5em"],
  ["iteration_cycles_min", "Cycles min", "cycles", "5.5em"],
  ["iteration_cycles_median", "median", "cycles", "5.5em"],
  ["iteration_cycles_max", "max", "cycles", "5.5em"],
  ["first_cycles_median", "First", "cycles", "5.5em"],
  ["steady_cycles_median", "Steady", "cycles", "5.5em"],
  ["last_cycles_median", "Last", "cycles", "5.5em"],
  ["steady_stall_share", "Stall", "share", "4.5em"],
  ["cycles_share", "Share", "share", "4.5em"],
  ["self_cycles_share", "Self", "share", "4.5em"],
]);

const COMPARED = [
  {
    name: "iteration_cycles_median",
    title: "Iteration",
    format: "cycles" as const,
    of: (loop: LoopsRow) => loopChange(loop, "iteration_cycles_median"),
  },
];

function linesOf(loop: LoopsRow): string {
  if (!loop.file) return loop.function ?? "";
  return `${loop.file}:${loop.first_line}${loop.last_line === loop.first_line ? "" : `–${loop.last_line}`}`;
}

function LoopsView() {
  return <Answered answer={loopsAnswer}>{(loops) => <Shown answer={loops} />}</Answered>;
}

function Shown({ answer }: { answer: LoopsAnswer }) {
  const loops = answer.loops.rows;
  const picked = useSignal<number | null>(null);
  const around = loopAround(loops, selection.value.row);
  // Of nested loops around the selected row the one that was clicked stays chosen.
  const clicked = loops.find((loop) => loop.loop === picked.value);
  const row = selection.value.row;
  const holds = clicked && (row === undefined || (clicked.first_row <= row && row <= clicked.last_row));
  const chosen = (holds ? clicked : undefined) ?? around ?? loops[0];
  const wave = useComputed(() => targetWave()?.wave);
  const iterations = useAnswer(wave.value === undefined ? null : iterationsOf(current.value, wave.value));
  const data = useAnswer(wave.value === undefined ? null : waveOf(current.value, wave.value));
  const own = useMemo(
    () =>
      iterations.value.state === "ready" && chosen
        ? iterations.value.value.filter((iteration) => iteration.loop === chosen.loop)
        : [],
    [iterations.value, chosen],
  );
  const waveData = data.value.state === "ready" ? data.value.value : null;
  if (!loops.length || !chosen) return <Nothing>No wave of this trace executed a loop.</Nothing>;
  const isMeasured = traceOverview().instruction_count > 0;
  const columns = isMeasured ? withChanges([...OF_THE_CODE, ...MEASURED], loops, COMPARED) : OF_THE_CODE;
  const left = answer.loops.row_count - loops.length + answer.left_out_count;
  return (
    <div class="view loops">
      <div class="toolbar">
        <span title={answer.definition}>
          {exact(loops.length)} {loops.length === 1 ? "loop" : "loops"}
          {left ? `, ${exact(left)} more are not shown` : ""};{" "}
          {isMeasured
            ? `${percent(1 - answer.outside_cycles_share)} of all cycles are in loops`
            : "what they cost is not known: no instruction was traced"}
        </span>
        {isMeasured ? <WavePicker withAll={false} /> : null}
        <SaveMenu
          name="loops"
          offers={[
            tableOffer(columns, () => loops),
            ...pictures(
              (painter, size) =>
                waveData
                  ? paintOverlay(painter, size, { loop: chosen, iterations: own, data: waveData })
                  : paintStrip(painter, size, own, -1),
              () => ({ width: 1000, height: 500 }),
            ),
          ]}
        />
      </div>
      <div class="loops-table" style={{ flexBasis: `${Math.min(10, loops.length + 1) * 24 + 10}px` }}>
        <DataTable
          label="Loops"
          columns={columns}
          rows={loops}
          isSelected={(loop) => loop.loop === chosen.loop}
          onSelect={(loop) => {
            picked.value = loop.loop;
            selectRow(loop.start_row, {}, true);
          }}
        />
      </div>
      {wave.value === undefined ? (
        <Nothing>There is no wave whose iterations could be shown.</Nothing>
      ) : (
        <>
          <Strip loop={chosen} iterations={own} wave={wave.value} />
          {waveData && waveData.wave === wave.value ? <Overlay loop={chosen} iterations={own} data={waveData} /> : null}
        </>
      )}
    </div>
  );
}

export const loops: View = {
  id: "loops",
  title: "Loops",
  hint: ASKED.loops,
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && overview.row_count ? "" : "the trace has no code to find loops in",
  component: LoopsView,
};
