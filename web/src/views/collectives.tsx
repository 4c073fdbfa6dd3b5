// Collectives of ranks: their time and bandwidth, who waits in them, and what made the last rank late.
import { useMemo } from "preact/hooks";
import { rate } from "../base/format";
import {
  ASKED,
  RUN_COLLECTIVES,
  RUN_COLLECTIVES_CALLS,
  RUN_COLLECTIVES_PROCESSES,
  RUN_COLLECTIVES_STRAGGLERS,
  type RunCollectivesAnswer,
  type RunCollectivesCallsRow,
  type RunCollectivesProcessesRow,
  type RunCollectivesRow,
  type RunCollectivesStragglersRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { processName, selectKernel } from "../model/run";
import { select, selection } from "../model/selection";
import { show } from "../model/timewindow";
import { frontView, type View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { Caveats } from "../widgets/caveats";
import { type Column, tableOffer } from "../widgets/data_table";
import { type ColumnChoice, figureColumns } from "../widgets/figure_columns";
import { processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";

type Bandwidths = Pick<RunCollectivesRow, "algorithm_bytes_per_second" | "bus_bytes_per_second">;

/** A bandwidth as the command line prints it: in 10^9 bytes per second. */
function bandwidth(name: keyof Bandwidths, title: string): ColumnChoice<Bandwidths> {
  const show = (row: Bandwidths) => (row[name] === null ? "–" : rate(row[name] / 1e9, "GB/s"));
  return { name, title, show, width: "7em" };
}

const COLLECTIVES = figureColumns<RunCollectivesRow>(RUN_COLLECTIVES, [
  ["kind", "Collective", "text", "8em"],
  ["name", "Kernel", "kernel"],
  ["size_bytes", "Size"],
  ["calls", "Calls"],
  ["process_count", "Ranks"],
  ["communication_ns", "Communication"],
  ["communication_median_ns", "Median"],
  bandwidth("algorithm_bytes_per_second", "Algorithm bandwidth"),
  bandwidth("bus_bytes_per_second", "Bus bandwidth"),
  ["wait_ns", "Mean wait"],
  ["start_skew_ns", "Start skew"],
  ["end_skew_ns", "End skew"],
  ["unmatched_count", "Without partner"],
  ["last_count", "Last"],
]);
const PROCESSES = figureColumns<RunCollectivesProcessesRow>(RUN_COLLECTIVES_PROCESSES, [
  ["host", "Node", "text"],
  ["calls", "Calls"],
  ["matched_count", "Matched"],
  ["total_ns", "Time"],
  ["wait_ns", "Waits"],
  ["last_count", "Last"],
  ["offset_ns", "Clock offset"],
  ["residual_ns", "Residual"],
]);
const LATE = figureColumns<RunCollectivesStragglersRow>(RUN_COLLECTIVES_STRAGGLERS, [
  ["meeting", "Call", "id"],
  ["late_ns", "Late"],
  ["cause", "Cause", "text"],
  ["compute_ns", "More computation"],
  ["communication_ns", "More communication"],
  ["copy_ns", "More copies"],
  ["queued_ns", "More idle, launched"],
  ["host_ns", "More idle, not launched"],
]);
const CALLS = figureColumns<RunCollectivesCallsRow>(RUN_COLLECTIVES_CALLS, [
  ["meeting", "Call", "id"],
  ["kind", "Collective", "text"],
  ["name", "Kernel", "kernel"],
  ["size_bytes", "Size"],
  ["communication_ns", "Communication"],
  bandwidth("bus_bytes_per_second", "Bus bandwidth"),
  ["wait_max_ns", "Longest wait"],
  ["start_skew_ns", "Start skew"],
]);

function Collectives() {
  const answer = useAnswer(json<RunCollectivesAnswer>(current.value, "run_collectives"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

/** The column of the process that arrived last; `isKnown` says of which rows it is known. */
function lastColumn<Row extends { pid: number | null; rank: number | null }>(isKnown: (row: Row) => boolean) {
  const value = (row: Row) => (isKnown(row) ? processName(row.pid, row.rank) : "–");
  return { name: "last", title: "Last rank", hint: "The process that arrived last", value, width: "" } as Column<Row>;
}

function Tables({ answer }: { answer: RunCollectivesAnswer }) {
  const { collectives, processes, stragglers, calls, arrivals } = answer;
  const columns = useMemo(() => {
    return {
      collectives: [...COLLECTIVES, lastColumn<RunCollectivesRow>((row) => row.last_count > 0)],
      processes: [processColumn<RunCollectivesProcessesRow>(), ...PROCESSES],
      late: [processColumn<RunCollectivesStragglersRow>(), ...LATE],
      calls: [...CALLS, lastColumn<RunCollectivesCallsRow>((row) => row.rule !== "unknown")],
    };
  }, [answer]);
  if (!collectives.rows.length) return <Nothing>{answer.verdict}.</Nothing>;
  /** Shows the part of one process in a call: by its own clock, with as much again on both sides. */
  const showCall = ({ meeting, pid }: { meeting: number; pid: number | null }) => {
    const own = arrivals.rows.find((row) => row.meeting === meeting && row.pid === pid);
    if (!own) return;
    const range = { begin: own.begin, end: own.begin + own.duration_ns };
    select({ range });
    show({ begin: range.begin - own.duration_ns, end: range.end + own.duration_ns });
    frontView("run_timeline");
  };
  return (
    <div class="view">
      <div class="toolbar">
        <span>A click on a call shows that of its last rank in the timeline.</span>
        <SaveMenu name="collectives" offers={[tableOffer(columns.collectives, () => collectives.rows)]} />
      </div>
      <div class="scroll">
        <p>
          <strong data-verdict>{answer.verdict}</strong>
        </p>
        <Caveats caveats={answer.caveats.map((caveat) => caveat.sentence)} />
        <TableSection
          title="By kind, size and group"
          label="Collectives"
          columns={columns.collectives}
          table={collectives}
          isSelected={(row) => row.name === selection.value.kernelName}
          onSelect={(row) => selectKernel(row.name)}
        />
        <TableSection title="Processes" columns={columns.processes} table={processes} />
        <TableSection
          title="Late ranks, and what they had more than another rank since they were on time"
          label="Late ranks"
          columns={columns.late}
          table={stragglers}
          onSelect={showCall}
        />
        <TableSection title="Calls of several ranks" columns={columns.calls} table={calls} onSelect={showCall} />
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

export const collectives: View = {
  id: "collectives",
  title: "Collectives",
  hint: ASKED.collectives,
  about: "run",
  time: "selected",
  missing: (overview) => (overview.kind === "run" && overview.holds.dispatches ? "" : "no dispatch was recorded"),
  component: Collectives,
};
