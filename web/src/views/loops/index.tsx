// The loops: how often they run, what an iteration costs, how iterations of one wave differ.
import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { ASKED, LOOPS, type LoopsAnswer, type LoopsRow } from "../../data/answers.gen";
import { loopChange } from "../../model/changes";
import { selectRowInPlace } from "../../model/code";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { iterationsOf, loopAround, loopsAnswer } from "../../model/loops";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { waveOf } from "../../model/wave_data";
import { targetWave } from "../../model/waves";
import { Answered, Nothing } from "../../widgets/answered";
import type { Paint } from "../../widgets/canvas";
import { withChanges } from "../../widgets/changes";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { WavePicker } from "../../widgets/wave_picker";
import "./loops.css";
import { Overlay, paintOverlay } from "./overlay";
import { NO_ITERATION, paintStrip, Strip } from "./strip";

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

/** Columns of what iterations cost. */
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

/** Columns that show the change from the baseline, where one is chosen. */
const COMPARED = [
  {
    name: "iteration_cycles_median",
    title: "Iteration",
    format: "cycles" as const,
    of: (loop: LoopsRow) => loopChange(loop, "iteration_cycles_median"),
  },
];

/** File and lines of a loop; without source lines its function. */
function linesOf(loop: LoopsRow): string {
  if (!loop.file) return loop.function ?? "";
  return `${loop.file}:${loop.first_line}${loop.last_line === loop.first_line ? "" : `–${loop.last_line}`}`;
}

function LoopsView() {
  return <Answered answer={loopsAnswer}>{(loops) => <Shown answer={loops} />}</Answered>;
}

function Shown({ answer }: { answer: LoopsAnswer }) {
  const loops = answer.loops.rows;
  const clicked = useSignal<number | null>(null);
  const chosen = chosenLoop(loops, clicked.value);
  const wave = useComputed(() => targetWave()?.wave);
  const loaded = useAnswer(wave.value === undefined ? null : iterationsOf(current.value, wave.value)).value;
  const loadedWave = useAnswer(wave.value === undefined ? null : waveOf(current.value, wave.value)).value;
  const iterations = useMemo(
    () => (loaded.state === "ready" ? loaded.value.filter(({ loop }) => loop === chosen?.loop) : []),
    [loaded, chosen],
  );
  const waveData = loadedWave.state === "ready" ? loadedWave.value : null;
  if (!chosen) return <Nothing>No wave of this trace executed a loop.</Nothing>;
  const isMeasured = traceOverview().instruction_count > 0;
  const columns = isMeasured ? withChanges([...OF_THE_CODE, ...MEASURED], loops, COMPARED) : OF_THE_CODE;
  const paint: Paint = (painter, size) =>
    waveData
      ? paintOverlay(painter, size, { loop: chosen, iterations, data: waveData })
      : paintStrip(painter, size, iterations, NO_ITERATION);
  const offers = [tableOffer(columns, () => loops), ...pictures(paint, () => SAVED_SIZE)];
  return (
    <div class="view loops">
      <div class="toolbar">
        <Headline answer={answer} isMeasured={isMeasured} />
        {isMeasured ? <WavePicker withAll={false} /> : null}
        <SaveMenu name="loops" offers={offers} />
      </div>
      <div class="loops-table" style={{ flexBasis: `${Math.min(MOST_ROWS, loops.length + 1) * 24 + 10}px` }}>
        <DataTable
          label="Loops"
          columns={columns}
          rows={loops}
          isSelected={(loop) => loop.loop === chosen.loop}
          onSelect={(loop) => {
            clicked.value = loop.loop;
            selectRowInPlace(loop.start_row);
          }}
        />
      </div>
      {wave.value === undefined ? (
        <Nothing>There is no wave whose iterations could be shown.</Nothing>
      ) : (
        <>
          <Strip loop={chosen} iterations={iterations} wave={wave.value} />
          {waveData && waveData.wave === wave.value ? (
            <Overlay loop={chosen} iterations={iterations} data={waveData} />
          ) : null}
        </>
      )}
    </div>
  );
}

/** Pixels of a saved picture; rows of the table before it scrolls, its head included. */
const SAVED_SIZE = { width: 1000, height: 500 };
const MOST_ROWS = 10;

/**
 * The loop that the view is about: the clicked one while it is around the selected row, so that of nested loops that one
 * stays chosen; else the innermost around the selected row; else the first. undefined = there are none.
 */
function chosenLoop(loops: LoopsRow[], clicked: number | null): LoopsRow | undefined {
  const { row } = selection.value;
  const isAround = (loop: LoopsRow) => row === undefined || (loop.first_row <= row && row <= loop.last_row);
  const ofClick = loops.find((loop) => loop.loop === clicked && isAround(loop));
  return ofClick ?? loopAround(loops, row) ?? loops[0];
}

function Headline({ answer, isMeasured }: { answer: LoopsAnswer; isMeasured: boolean }) {
  const { loops, left_out_count } = answer;
  const missing = loops.row_count - loops.rows.length + left_out_count;
  return (
    <span title={answer.definition}>
      {exact(loops.rows.length)} {loops.rows.length === 1 ? "loop" : "loops"}
      {missing ? `, ${exact(missing)} more are not shown` : ""};{" "}
      {isMeasured
        ? `${percent(1 - answer.outside_cycles_share)} of all cycles are in loops`
        : "what they cost is not known: no instruction was traced"}
    </span>
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
