// What ran at the same time: computation, communication and copies of each GPU; streams; processes; calls of the host.
import { useMemo } from "preact/hooks";
import { nanoseconds, percent } from "../base/format";
import { baseName } from "../base/path";
import { json } from "../data/ask";
import { seriesColour } from "../draw/palette";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { Told } from "../model/run";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { PartsBar } from "../widgets/bars";
import { Definition } from "../widgets/cards";
import { type Column, tableOffer } from "../widgets/data_table";
import { type Described, figureColumns } from "../widgets/figure_columns";
import { gpuColumn, processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";

interface Row {
  node: string;
  gpu: number | null;
  pid: number | null;
  rank: number | null;
}

interface GpuRow extends Row {
  span_ns: number;
  computation_ns: number;
  exposed_communication_ns: number;
  exposed_copy_ns: number;
  idle_ns: number;
}

interface OverlapAnswer {
  definition: string;
  gpus: Told<GpuRow>;
  streams: Told<Row>;
  processes: Told<Row>;
  levels: Told<Row & { what: string }>;
  host: Told<Row>;
  bridged_ns: number;
  stream_limit: number | null;
}

const GPUS: Described[] = [
  ["busy_share", "Busy", "share"],
  ["computation_ns", "Computation", "ns"],
  ["communication_ns", "Communication", "ns"],
  ["exposed_communication_ns", "exposed", "ns"],
  ["communication_hidden_share", "hidden", "share"],
  ["copy_ns", "Copies", "ns"],
  ["exposed_copy_ns", "exposed", "ns"],
  ["copy_hidden_share", "hidden", "share"],
  ["idle_ns", "Idle", "ns"],
];
const TWO: Described[] = [
  ["first_busy_ns", "First busy", "ns"],
  ["second_busy_ns", "Second busy", "ns"],
  ["both_ns", "Both", "ns"],
  ["both_share", "Of the shorter", "bar"],
];
const STREAMS: Described[] = [
  ["first_stream_id", "Stream", "count"],
  ["second_stream_id", "and stream", "count"],
  ...TWO,
];
const PROCESSES: Described[] = [["first_pid", "Process", "id"], ["second_pid", "and process", "id"], ...TWO];
const LEVELS: Described[] = [
  ["what", "What", "text"],
  ["level", "At the same time", "count"],
  ["length_ns", "How long", "ns"],
  ["busy_share", "Of the busy time", "bar"],
];
const HOST: Described[] = [
  ["call_ns", "In calls", "ns"],
  ["call_hidden_ns", "while its GPU works", "ns"],
  ["call_hidden_share", "Share", "bar"],
  ["gpu_busy_ns", "GPU work", "ns"],
];
const PARTS = [
  ["computation_ns", "computation"],
  ["exposed_communication_ns", "communication that nothing hides"],
  ["exposed_copy_ns", "copies that nothing hides"],
] as const;

function Overlap() {
  const answer = useAnswer(json<OverlapAnswer>(current.value, "run_overlap"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

function Tables({ answer }: { answer: OverlapAnswer }) {
  const { gpus, streams, processes, levels, host } = answer;
  const columns = useMemo(() => {
    const gpu = gpuColumn<Row>();
    const nodeOrGpu: Column<Row> = {
      ...gpu,
      title: "Where",
      value: (row) => (row.gpu === null ? baseName(row.node) || "the node" : gpu.value(row)),
    };
    const process = processColumn<Row>();
    const parts: Column<GpuRow> = {
      name: "span_ns",
      title: "Time of the node",
      hint: `${PARTS.map(([, words]) => words).join(", ")}; the rest is idle`,
      value: (row) => row.span_ns,
      show: (row) => <Parts row={row} />,
      width: "",
    };
    return {
      gpus: [gpu, process, parts, ...figureColumns<GpuRow>(gpus.hints, GPUS)] as Column<GpuRow>[],
      streams: [gpu, process, ...figureColumns<Row>(streams.hints, STREAMS)],
      processes: [gpu, ...figureColumns<Row>(processes.hints, PROCESSES)],
      levels: [nodeOrGpu, ...figureColumns<Row>(levels.hints, LEVELS)],
      host: [process, ...figureColumns<Row>(host.hints, HOST)],
    };
  }, [answer]);
  return (
    <div class="view">
      <div class="toolbar">
        <span>What ran at the same time</span>
        <SaveMenu name="overlap" offers={[tableOffer(columns.gpus, () => gpus.rows)]} />
      </div>
      <div class="scroll">
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
        <TableSection title="Calls of the host" label="Calls hidden by GPU work" columns={columns.host} table={host} />
        {answer.bridged_ns ? (
          <p class="truncated">
            {nanoseconds(answer.bridged_ns)} of idle time count as busy here: a process has too many intervals.
          </p>
        ) : null}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

function Parts({ row }: { row: GpuRow }) {
  const parts = PARTS.map(([name, words], n) => ({
    share: row.span_ns ? row[name] / row.span_ns : 0,
    colour: seriesColour(n),
    title: `${words}: ${nanoseconds(row[name])}, ${percent(row.span_ns ? row[name] / row.span_ns : null)}`,
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
  hint: "What ran at the same time: computation, communication, copies, streams, processes, and calls of the host",
  about: "run",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.kernels || overview.holds.copies) ? "" : "no GPU work was recorded",
  component: Overlap,
};
