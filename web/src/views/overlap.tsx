// What ran at the same time: computation, communication and copies of each GPU; streams; processes; calls of the host.
import { useMemo } from "preact/hooks";
import { nanoseconds, percent } from "../base/format";
import { baseName } from "../base/path";
import {
  ASKED,
  RUN_OVERLAP_GPUS,
  RUN_OVERLAP_HOST,
  RUN_OVERLAP_LEVELS,
  RUN_OVERLAP_PROCESSES,
  RUN_OVERLAP_STREAMS,
  type RunOverlapAnswer,
  type RunOverlapGpusRow,
  type RunOverlapHostRow,
  type RunOverlapLevelsRow,
  type RunOverlapProcessesRow,
  type RunOverlapStreamsRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { colourOf } from "../draw/palette";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { PartsBar } from "../widgets/bars";
import { Definition } from "../widgets/cards";
import { type Column, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { PartLegend } from "../widgets/part_legend";
import { gpuColumn, processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";

const GPUS = figureColumns<RunOverlapGpusRow>(RUN_OVERLAP_GPUS, [
  ["busy_share", "Busy"],
  ["computation_ns", "Computation"],
  ["communication_ns", "Communication"],
  ["exposed_communication_ns", "exposed"],
  ["communication_hidden_share", "hidden"],
  ["copy_ns", "Copies"],
  ["exposed_copy_ns", "exposed"],
  ["copy_hidden_share", "hidden"],
  ["idle_ns", "Idle"],
]);
/** Columns of pairs, of streams or of processes. */
const BOTH = [
  ["first_busy_ns", "First busy"],
  ["second_busy_ns", "Second busy"],
  ["both_ns", "Both"],
  ["both_share", "Of the shorter", "bar"],
] as const;
const STREAMS = figureColumns<RunOverlapStreamsRow>(RUN_OVERLAP_STREAMS, [
  ["first_stream_id", "Stream", "id"],
  ["second_stream_id", "and stream", "id"],
  ...BOTH,
]);
const PROCESSES = figureColumns<RunOverlapProcessesRow>(RUN_OVERLAP_PROCESSES, [
  ["first_pid", "Process", "id"],
  ["second_pid", "and process", "id"],
  ...BOTH,
]);
const LEVELS = figureColumns<RunOverlapLevelsRow>(RUN_OVERLAP_LEVELS, [
  ["what", "What", "text"],
  ["level", "At the same time"],
  ["length_ns", "How long"],
  ["busy_share", "Of the busy time", "bar"],
]);
const HOST = figureColumns<RunOverlapHostRow>(RUN_OVERLAP_HOST, [
  ["call_ns", "In calls"],
  ["call_hidden_ns", "while its GPU works"],
  ["call_hidden_share", "Share", "bar"],
  ["gpu_busy_ns", "GPU work"],
]);
/** The parts of the time of a GPU: their column, name and meaning in the palette. */
const PARTS = [
  { column: "computation_ns", words: "computation", meaning: "computation" },
  { column: "exposed_communication_ns", words: "exposed communication", meaning: "communication" },
  { column: "exposed_copy_ns", words: "exposed copies", meaning: "copies" },
] as const;
/** The rest of the bar. */
const IDLE = { words: "idle (empty)", colour: "transparent" };

function Overlap() {
  const answer = useAnswer(json<RunOverlapAnswer>(current.value, "run_overlap"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

function Tables({ answer }: { answer: RunOverlapAnswer }) {
  const { gpus, streams, processes, levels, host } = answer;
  const columns = useMemo(() => {
    const gpu = gpuColumn<RunOverlapLevelsRow>();
    const nodeOrGpu: Column<RunOverlapLevelsRow> = {
      ...gpu,
      title: "Where",
      value: (row) => (row.gpu === null ? baseName(row.node) || "the node" : gpu.value(row)),
    };
    const parts: Column<RunOverlapGpusRow> = {
      name: "span_ns",
      title: "Time of the node",
      hint: `${PARTS.map(({ words }) => words).join(", ")}; the rest is idle`,
      value: (row) => row.span_ns,
      show: (row) => <Parts row={row} />,
      width: "",
    };
    return {
      gpus: [gpuColumn<RunOverlapGpusRow>(), processColumn<RunOverlapGpusRow>(), parts, ...GPUS],
      streams: [gpuColumn<RunOverlapStreamsRow>(), processColumn<RunOverlapStreamsRow>(), ...STREAMS],
      processes: [gpuColumn<RunOverlapProcessesRow>(), ...PROCESSES],
      levels: [nodeOrGpu, ...LEVELS],
      host: [processColumn<RunOverlapHostRow>(), ...HOST],
    };
  }, [answer]);
  return (
    <div class="view">
      <div class="toolbar">
        <span>What ran at the same time</span>
        <SaveMenu name="overlap" offers={[tableOffer(columns.gpus, () => gpus.rows)]} />
      </div>
      <div class="scroll">
        <PartLegend parts={[...PARTS.map(({ words, meaning }) => ({ words, colour: colourOf(meaning) })), IDLE]} />
        <TableSection title="GPUs" label="Overlap by GPU" columns={columns.gpus} table={gpus} />
        <TableSection
          title={`Streams${answer.stream_limit ? `, the ${answer.stream_limit} busiest of each GPU` : ""}`}
          label="Overlap of streams"
          columns={columns.streams}
          table={streams}
        />
        <TableSection
          title="Processes that share a GPU"
          label="Overlap of processes"
          columns={columns.processes}
          table={processes}
        />
        <TableSection title="How many at the same time" label="Levels" columns={columns.levels} table={levels} />
        <TableSection title="Host calls" label="Calls hidden by GPU work" columns={columns.host} table={host} />
        {answer.bridged_ns ? (
          <p class="truncated">
            {nanoseconds(answer.bridged_ns)} of idle time counts as busy here, because a process has too many intervals.
          </p>
        ) : null}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

function Parts({ row }: { row: RunOverlapGpusRow }) {
  const parts = PARTS.map(({ column, words, meaning }) => ({
    share: row.span_ns ? row[column] / row.span_ns : 0,
    colour: colourOf(meaning),
    title: `${words}: ${nanoseconds(row[column])}, ${percent(row.span_ns ? row[column] / row.span_ns : null)}`,
  }));
  return (
    <div class="parts-cell">
      <PartsBar parts={parts} label={parts.map((part) => part.title).join("; ")} />
    </div>
  );
}

export const overlap: View = {
  id: "overlap",
  title: "Overlap",
  hint: ASKED.overlap,
  about: "run",
  time: "selected",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.dispatches || overview.holds.copies) ? "" : "no GPU work was recorded",
  component: Overlap,
};
