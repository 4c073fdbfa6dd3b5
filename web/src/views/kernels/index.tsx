// Kernels of a run: how often, how long, how evenly; a click shows the distribution of one.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted, exact, nanoseconds } from "../../base/format";
import { matcher } from "../../base/matcher";
import { ASKED, RUN_KERNEL, type RunKernelAnswer, type RunKernelRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { truncation } from "../../model/answers";
import { goneThings, thingChange } from "../../model/changes";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selectKernel } from "../../model/run";
import { preview, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { Definition } from "../../widgets/cards";
import { Gone, withChanges } from "../../widgets/changes";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { DURATIONS, figureColumns } from "../../widgets/figure_columns";
import { FilterField } from "../../widgets/filter_field";
import { SaveMenu } from "../../widgets/saving";
import { Split } from "../../widgets/split";
import { KernelDetails } from "./details";
import "./kernels.css";

/** Each: the column of the answer, its title, and where the defaults of its unit do not do, its format and width. */
const COLUMNS = figureColumns<RunKernelRow>(RUN_KERNEL, [
  ["name", "Kernel", "kernel", "minmax(18em, 3fr)"],
  ...DURATIONS,
  ["stddev_ns", "Deviation"],
  ["latency_median_ns", "Launch latency", "ns", "8em"],
  ["untimed_calls", "Untimed", "count", "5em"],
]);

/** Columns that show the change from the baseline, where one is chosen. */
const COMPARED = [
  { name: "mean_ns", format: "ns" as const, of: ({ name }: RunKernelRow) => thingChange("KERNEL", name, "mean_ns") },
];

/** All kernels; the other tables of `run_kernels` are about one of them. `all_ns` is of all dispatches. */
type KernelsAnswer = Pick<RunKernelAnswer, "definition" | "kernels" | "all_ns">;

function Kernels() {
  const answer = useAnswer(json<KernelsAnswer>(current.value, "run_kernels"));
  return <Answered answer={answer}>{(value) => <KernelsTable answer={value} />}</Answered>;
}

function KernelsTable({ answer }: { answer: KernelsAnswer }) {
  const { kernels, all_ns, definition } = answer;
  const query = useSignal("");
  const nameFilter = matcher(query.value);
  const rows = useMemo(
    () => (query.value ? kernels.rows.filter((kernel) => nameFilter.test(kernel.name)) : kernels.rows),
    [kernels, query.value],
  );
  const chosen = kernels.rows.find((kernel) => kernel.name === selection.value.kernelName);
  const truncationNote = truncation(kernels.rows.length, kernels.row_count);
  const columns = withChanges(COLUMNS, rows, COMPARED);
  const table = (
    <div class="kernels-table">
      <DataTable
        label="Kernels"
        columns={columns}
        rows={rows}
        sortBy="total_ns"
        isSelected={(kernel) => kernel.name === selection.value.kernelName}
        onSelect={(kernel) => selectKernel(kernel.name)}
        onHover={(kernel) => {
          preview.value = kernel ? { kernelName: kernel.name } : {};
        }}
      />
    </div>
  );
  return (
    <div class="view kernels">
      <div class="toolbar">
        <span title="The time is that of all dispatches, whatever the filter leaves in the table">
          {query.value ? `${exact(rows.length)} of ` : ""}
          {counted(kernels.row_count, "kernels")}, {nanoseconds(all_ns)} in all dispatches
        </span>
        <FilterField
          query={query}
          placeholder="name or /regex/"
          label="Kernels whose name contains"
          problem={nameFilter.problem}
        />
        {truncationNote ? <strong>{truncationNote}</strong> : null}
        <SaveMenu name="kernels" offers={[tableOffer(columns, () => rows)]} />
      </div>
      <Gone what="kernels" names={goneThings("KERNEL").map(({ name }) => name)} />
      <Split
        name="kernels"
        label="Between kernels and details"
        direction="column"
        first={0.42}
        isBrief={chosen === undefined}
      >
        {table}
        {chosen ? (
          <KernelDetails name={chosen.name} />
        ) : (
          <div class="kernels-more empty">
            <p class="note">Choose a kernel to see how its durations are distributed.</p>
            <Definition text={definition} />
          </div>
        )}
      </Split>
    </div>
  );
}

export const kernels: View = {
  id: "kernels",
  title: "Kernels",
  hint: ASKED.kernels,
  about: "run",
  time: "selected",
  missing: (overview) => (overview.kind === "run" && overview.holds.dispatches ? "" : "the run has no dispatches"),
  component: Kernels,
};
