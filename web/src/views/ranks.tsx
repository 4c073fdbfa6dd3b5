// How evenly the work is spread over the processes of a run: compute time, waiting in collectives, who arrives late.
import { useMemo } from "preact/hooks";
import { exact, nanoseconds, percent } from "../base/format";
import { json } from "../data/ask";
import { seriesColour } from "../draw/palette";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { selectKernel, type Told } from "../model/run";
import { selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { PartsBar } from "../widgets/bars";
import { Definition, Figure } from "../widgets/cards";
import { type Column, tableOffer } from "../widgets/data_table";
import { type Described, figureColumns } from "../widgets/figure_columns";
import { processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";

interface Who {
  pid: number | null;
  rank: number | null;
  host: string | null;
}

interface RankRow extends Who {
  compute_ns: number;
  collective_ns: number;
  waited_ns: number;
  copy_ns: number;
}

interface NamedRow extends Who {
  name: string;
}

interface RanksAnswer {
  definition: string;
  processes: Told<RankRow>;
  kernels: Told<NamedRow>;
  collectives: Told<NamedRow>;
  imbalance: number | null;
  cost_ns: number;
  waited_ns: number;
}

const PROCESSES: Described[] = [
  ["host", "Node", "text"],
  ["compute_ns", "Compute", "ns"],
  ["deviation", "From the mean", "change"],
  ["collective_ns", "Collectives", "ns"],
  ["waited_ns", "Waited", "ns"],
  ["last_count", "Arrived last", "count"],
  ["copy_ns", "Copies", "ns"],
  ["wall_ns", "Wall", "ns"],
  ["busy_share", "Busy", "share"],
  ["gpu_count", "GPUs", "count"],
];
const COLLECTIVES: Described[] = [
  ["calls", "Calls", "count"],
  ["process_count", "Processes", "count"],
  ["is_complete", "Complete", "text"],
  ["spread_ns", "Spread", "ns"],
  ["spread_share", "Waiting", "bar"],
  ["excess_ns", "Excess", "ns"],
  ["last_count", "Last", "count"],
];
const KERNELS: Described[] = [
  ["imbalance", "Imbalance", "factor"],
  ["cost_ns", "Cost", "ns"],
  ["mean_ns", "Mean total", "ns"],
  ["max_ns", "Largest total", "ns"],
  ["per_call", "Per call", "factor"],
  ["calls", "Calls", "count"],
  ["process_count", "Processes", "count"],
];

function Ranks() {
  const answer = useAnswer(json<RanksAnswer>(current.value, "run_ranks"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

function Tables({ answer }: { answer: RanksAnswer }) {
  const { processes, kernels, collectives } = answer;
  const columns = useMemo(() => {
    const most = Math.max(1, ...processes.rows.map((row) => row.compute_ns + row.collective_ns + row.copy_ns));
    const who = processColumn<Who>();
    const slowest = { ...who, title: "Slowest", hint: "the process that takes longest" };
    const last = { ...who, title: "Arrives last", hint: "the process that arrived last most often" };
    const name: Column<NamedRow> = { name: "name", title: "Kernel", value: (row) => row.name, width: "" };
    const bar: Column<RankRow> = {
      name: "parts",
      title: "Compute, collectives (waiting lighter), copies",
      value: (row) => row.compute_ns + row.collective_ns + row.copy_ns,
      show: (row) => <Parts row={row} most={most} />,
      width: "",
    };
    return {
      processes: [who, bar, ...figureColumns<RankRow>(processes.hints, PROCESSES)] as Column<RankRow>[],
      collectives: [name, ...figureColumns<NamedRow>(collectives.hints, COLLECTIVES), last] as Column<NamedRow>[],
      kernels: [name, ...figureColumns<NamedRow>(kernels.hints, KERNELS), slowest] as Column<NamedRow>[],
    };
  }, [answer]);
  const isChosen = (row: NamedRow) => row.name === selection.value.kernel;
  return (
    <div class="view">
      <div class="toolbar">
        <span>{exact(processes.row_count)} processes</span>
        <SaveMenu name="ranks" offers={[tableOffer(columns.processes, () => processes.rows)]} />
      </div>
      <div class="scroll">
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
            name="cost of it"
            hint="Largest compute time minus the mean"
          />
          <Figure
            id="waited_ns"
            value={nanoseconds(answer.waited_ns)}
            name="waited in collectives"
            hint="Of all processes together, for ranks that arrived later"
          />
        </div>
        <TableSection title="Processes" columns={columns.processes} table={processes} />
        <TableSection
          title="Collectives: who is waited for"
          label="Collectives"
          columns={columns.collectives}
          table={collectives}
          isSelected={isChosen}
          onSelect={(row) => selectKernel(row.name)}
        />
        <TableSection
          title="Kernels that are spread unevenly"
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

function Parts({ row, most }: { row: RankRow; most: number }) {
  const shares: [string, number, string][] = [
    ["compute", row.compute_ns, seriesColour(0)],
    ["collectives without waiting", Math.max(0, row.collective_ns - row.waited_ns), seriesColour(1)],
    ["waiting in collectives", Math.min(row.collective_ns, row.waited_ns), seriesColour(8)],
    ["copies", row.copy_ns, seriesColour(2)],
  ];
  const parts = shares.map(([words, ns, colour]) => ({
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
  hint: "How evenly the work is spread over processes: compute time, waiting in collectives, who arrives late",
  about: "run",
  missing: (overview) => {
    if (overview.kind !== "run" || !overview.holds.kernels) return "the run has no dispatches";
    return overview.processes.length > 1 ? "" : "the run has one process only; open the files of all ranks together";
  },
  component: Ranks,
};
