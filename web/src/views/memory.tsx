// Memory of a run: how much is in use over time, what is alive at the peak, what is not freed.
import { useMemo } from "preact/hooks";
import {
  ASKED,
  RUN_MEMORY_PLACES,
  RUN_MEMORY_SITES,
  type RunMemoryAnswer,
  type RunMemoryPlacesRow,
  type RunMemorySitesRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { curvesOf } from "../model/curves";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { gpuName } from "../model/run";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { CurveChart } from "../widgets/curve_chart";
import { type Column, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { Split } from "../widgets/split";
import { TableSection } from "../widgets/table_section";

const PLACES = figureColumns<RunMemoryPlacesRow>(RUN_MEMORY_PLACES, [
  ["pool", "Allocator", "text"],
  ["peak_bytes", "Peak"],
  ["peak_ns", "Reached at"],
  ["peak_before_bytes", "Of it from before"],
  ["reserved_peak_bytes", "Reserved at most"],
  ["end_bytes", "At the end"],
  ["allocation_count", "Allocations"],
  ["allocated_bytes", "Allocated"],
  ["release_count", "Releases"],
  ["unfreed_bytes", "Not freed"],
  ["call_ns", "In the calls"],
]);
const SITES = figureColumns<RunMemorySitesRow>(RUN_MEMORY_SITES, [
  ["peak_bytes", "At the peak"],
  ["peak_count", "Allocations at the peak"],
  ["unfreed_bytes", "Not freed"],
  ["unfreed_count", "Allocations not freed"],
  ["allocated_bytes", "Allocated"],
  ["allocation_count", "Allocations"],
  ["call_ns", "In the calls"],
  ["pool", "Allocator", "text"],
  ["site", "Call site", "text"],
]);
const PLACE: Column<RunMemoryPlacesRow> = { name: "place", title: "Memory", value: placeOf, width: "" };

function placeOf({ kind, host, gpu }: RunMemoryPlacesRow): string {
  if (kind === "GPU") return gpuName(host, gpu, 1); // as on one node: without the name of its node
  return kind === "HOST" ? "host" : "not recorded";
}

function Memory() {
  const answer = useAnswer(json<RunMemoryAnswer>(current.value, "run_memory"));
  return (
    <div class="view">
      <Split name="memory" label="Between curves and tables" direction="column" first={0.4}>
        <Curves />
        <div class="scroll">
          <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>
        </div>
      </Split>
    </div>
  );
}

function Curves() {
  const answer = useAnswer(curvesOf(current.value));
  return (
    <Answered answer={answer}>
      {(sets) => {
        const set = sets.find(({ name }) => name === "memory");
        if (!set) return <p class="note">No allocation was recorded.</p>;
        return <CurveChart set={set} label="Allocated and reserved memory" fileName="run-memory" fromZero />;
      }}
    </Answered>
  );
}

function Tables({ answer }: { answer: RunMemoryAnswer }) {
  const { places, sites } = answer;
  const columns = useMemo(() => [PLACE, processColumn<RunMemoryPlacesRow>(), ...PLACES], [answer]);
  const lastMoment = answer.covers_end
    ? "when its process ended"
    : "when the recording ended, which need not be a leak";
  return (
    <>
      <p>
        <strong data-verdict>{answer.verdict}</strong>
      </p>
      <TableSection title="By GPU, process and allocator" label="Memories" columns={columns} table={places} />
      <TableSection
        title="Call sites, most at the peak first"
        hint={`Not freed: still there ${lastMoment}`}
        label="Call sites"
        columns={SITES}
        table={{ ...sites, rows: [...sites.rows].sort((a, b) => b.peak_bytes - a.peak_bytes) }}
      />
      <SaveMenu name="memory" offers={[tableOffer(SITES, () => sites.rows)]} />
      <Definition text={answer.definition} />
    </>
  );
}

export const memory: View = {
  id: "memory",
  title: "Memory",
  hint: ASKED.memory,
  about: "run",
  time: "selected",
  missing: (overview) => (overview.kind === "run" && overview.holds.allocations ? "" : "no allocation was recorded"),
  component: Memory,
};
