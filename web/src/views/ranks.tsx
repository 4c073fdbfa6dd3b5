// How evenly the work is spread over the processes of a run: compute time, waiting in collectives, who arrives late.
import { useMemo } from "preact/hooks";
import { exact, nanoseconds, percent } from "../base/format";
import {
  ASKED,
  RUN_RANKS_COLLECTIVES,
  RUN_RANKS_KERNELS,
  RUN_RANKS_PROCESSES,
  type RunRanksAnswer,
  type RunRanksCollectivesRow,
  type RunRanksKernelsRow,
  type RunRanksProcessesRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { colourOf, mixed, paper } from "../draw/palette";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { selectKernel } from "../model/run";
import { selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { PartsBar } from "../widgets/bars";
import { Definition, Figure } from "../widgets/cards";
import { type Column, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { PartLegend } from "../widgets/part_legend";
import { processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";

const PROCESSES = figureColumns<RunRanksProcessesRow>(RUN_RANKS_PROCESSES, [
  ["host", "Node", "text"],
  ["compute_ns", "Compute"],
  ["deviation", "From the mean", "change"],
  ["collective_ns", "Collectives"],
  ["waited_ns", "Waited"],
  ["last_count", "Arrived last"],
  ["copy_ns", "Copies"],
  ["idle_ns", "Idle"],
  ["host_ns", "Host"],
  ["wall_ns", "Wall"],
  ["busy_share", "Busy"],
  ["gpu_count", "GPUs"],
]);
const COLLECTIVES = figureColumns<RunRanksCollectivesRow>(RUN_RANKS_COLLECTIVES, [
  ["collective", "Collective", "text"],
  ["name", "Kernel", "kernel"],
  ["calls", "Calls"],
  ["process_count", "Processes"],
  ["is_complete", "Complete", "text"],
  ["spread_ns", "Spread"],
  ["spread_share", "Waiting", "bar"],
  ["excess_ns", "Excess"],
  ["last_count", "Last"],
]);
const KERNELS = figureColumns<RunRanksKernelsRow>(RUN_RANKS_KERNELS, [
  ["name", "Kernel", "kernel"],
  ["imbalance", "Imbalance", "factor"],
  ["cost_ns", "Cost"],
  ["mean_ns", "Mean total"],
  ["max_ns", "Largest total"],
  ["per_call", "Per call", "factor"],
  ["calls", "Calls"],
  ["process_count", "Processes"],
]);

function Ranks() {
  const answer = useAnswer(json<RunRanksAnswer>(current.value, "run_ranks"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

function Tables({ answer }: { answer: RunRanksAnswer }) {
  const { processes, kernels, collectives } = answer;
  const columns = useMemo(() => columnsOf(answer), [answer]);
  const isChosen = (row: { name: string }) => row.name === selection.value.kernelName;
  return (
    <div class="view">
      <div class="toolbar">
        <span>{exact(processes.row_count)} processes</span>
        <SaveMenu name="ranks" offers={[tableOffer(columns.processes, () => processes.rows)]} />
      </div>
      <div class="scroll">
        <Figures answer={answer} />
        <PartLegend parts={Object.values(legend())} />
        <TableSection title="Processes" columns={columns.processes} table={processes} />
        <TableSection
          title="Collectives: who the others wait for"
          label="Collectives"
          columns={columns.collectives}
          table={collectives}
          isSelected={isChosen}
          onSelect={(row) => selectKernel(row.name)}
        />
        <TableSection
          title="Kernels with uneven work"
          label="Kernels by imbalance"
          columns={columns.kernels}
          table={kernels}
          isSelected={isChosen}
          onSelect={(row) => selectKernel(row.name)}
        />
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

/** Columns of the tables; the bars of processes are of the one with most time. */
function columnsOf({ processes }: RunRanksAnswer) {
  const most = Math.max(1, ...processes.rows.map((row) => row.compute_ns + row.collective_ns + row.copy_ns));
  const slowest = {
    ...processColumn<RunRanksKernelsRow>(),
    title: "Slowest",
    hint: "The process that takes longest",
  };
  const last = {
    ...processColumn<RunRanksCollectivesRow>(),
    title: "Arrives last",
    hint: "The process that arrived last most often",
  };
  const bar: Column<RunRanksProcessesRow> = {
    name: "parts",
    title: "Where the time went",
    hint: "Compute, collectives, waiting in them, and copies; the longest process fills the width",
    value: (row) => row.compute_ns + row.collective_ns + row.copy_ns,
    show: (row) => <Parts row={row} most={most} />,
    width: "",
  };
  return {
    processes: [processColumn<RunRanksProcessesRow>(), bar, ...PROCESSES],
    collectives: [...COLLECTIVES, last],
    kernels: [...KERNELS, slowest],
  };
}

function Figures({ answer }: { answer: RunRanksAnswer }) {
  return (
    <div class="figures">
      <Figure
        id="imbalance"
        value={answer.imbalance === null ? "–" : `${answer.imbalance.toFixed(3)} x`}
        name="imbalance"
        hint="Largest compute time over the mean"
      />
      <Figure
        id="cost_ns"
        value={nanoseconds(answer.cost_ns)}
        name="cost of the imbalance"
        hint="Largest compute time minus the mean"
      />
      <Figure
        id="waited_ns"
        value={nanoseconds(answer.waited_ns)}
        name="waited in collectives"
        hint="Of all processes together, for ranks that arrived later"
      />
    </div>
  );
}

/** Waiting is a paler part of the collectives: it is time in them. */
function legend() {
  const collective = colourOf("communication");
  return {
    compute: { words: "compute", colour: colourOf("computation") },
    collective: { words: "collectives without waiting", colour: collective },
    waiting: { words: "waiting in collectives", colour: mixed(collective, paper("background"), 0.6) },
    copies: { words: "copies", colour: colourOf("copies") },
  };
}

/** Where the time of a process went, as a bar; `most` is the time that fills it. */
function Parts({ row, most }: { row: RunRanksProcessesRow; most: number }) {
  const { compute, collective, waiting, copies } = legend();
  const shares = [
    { ...compute, ns: row.compute_ns },
    { ...collective, ns: Math.max(0, row.collective_ns - row.waited_ns) },
    { ...waiting, ns: Math.min(row.collective_ns, row.waited_ns) },
    { ...copies, ns: row.copy_ns },
  ];
  const parts = shares.map(({ words, ns, colour }) => ({
    share: ns / most,
    colour,
    title: `${words}: ${nanoseconds(ns)}, ${percent(ns / most)} of the longest process`,
  }));
  return (
    <div class="parts-cell">
      <PartsBar parts={parts} label={parts.map((part) => part.title).join("; ")} />
    </div>
  );
}

export const ranks: View = {
  id: "ranks",
  title: "Ranks",
  hint: ASKED.ranks,
  about: "run",
  time: "selected",
  missing: (overview) => {
    if (overview.kind !== "run" || !overview.holds.dispatches) return "the run has no dispatches";
    return overview.processes.length > 1 ? "" : "the run has one process only; open the files of all ranks together";
  },
  component: Ranks,
};
