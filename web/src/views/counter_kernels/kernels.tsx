// Kernels of a counter capture with their share of the time, and the dispatches of the chosen one.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted } from "../../base/format";
import { matcher } from "../../base/matcher";
import {
  COUNTER_DISPATCHES,
  COUNTER_KERNELS,
  type CounterDispatchesRow,
  type CounterKernelsRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import type { Frame } from "../../data/tables";
import { truncation } from "../../model/answers";
import { chooseKernel, chosenKernel, ofChosen } from "../../model/counters";
import { countersOverview, current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { FilterField } from "../../widgets/filter_field";
import { SaveMenu } from "../../widgets/saving";
import "./kernels.css";

const KERNELS = figureColumns<CounterKernelsRow>(COUNTER_KERNELS, [
  ["kernel", "Rank", "id", "4em"],
  ["kernel_name", "Kernel", "text", "minmax(14em, 3fr)"],
  ["duration_share", "Share of time", "bar"],
  ["dispatch_count", "Dispatches"],
  ["duration_ns_total", "Total", "ns"],
  ["duration_ns_mean", "Mean", "ns"],
  ["duration_ns_median", "Median", "ns"],
]);
interface Dispatches {
  dispatches: Frame<CounterDispatchesRow>;
}

const DISPATCHES = figureColumns<CounterDispatchesRow>(COUNTER_DISPATCHES, [
  ["dispatch", "Dispatch", "id", "5em"],
  ["dispatch_id", "Id", "id", "5em"],
  ["kernel_name", "Kernel", "text", "minmax(10em, 2fr)"],
  ["gpu", "GPU", "id", "3em"],
  ["duration_ns", "Duration"],
  ["grid_size", "Grid", "count", "7em"],
  ["workgroup_size", "Workgroup"],
  ["arch_vgprs", "VGPR", "count", "4em"],
  ["accum_vgprs", "AGPR", "count", "4em"],
  ["sgprs", "SGPR", "count", "4em"],
  ["lds_bytes", "LDS", "bytes", "5em"],
  ["scratch_bytes", "Scratch", "bytes", "5em"],
]);

/** em of a row; the head of the table has a little more. */
const ROW_HEIGHT = 1.85;

function Kernels() {
  const { kernels, kernel_count: count } = countersOverview();
  const query = useSignal("");
  const search = matcher(query.value);
  const rows = useMemo(
    () => (query.value ? kernels.filter((kernel) => search.test(kernel.kernel_name)) : kernels),
    [kernels, query.value],
  );
  const chosen = chosenKernel();
  const cutNote = truncation(kernels.length, count);
  return (
    <div class="view counter-kernels">
      <div class="toolbar">
        <span>{counted(count, "kernels")}</span>
        <FilterField
          query={query}
          placeholder="name or /regex/"
          label="Kernels whose name contains"
          problem={search.problem}
        />
        {cutNote ? <strong>{cutNote}</strong> : null}
        {chosen ? (
          <button type="button" class="quiet" data-action="all-kernels" onClick={() => chooseKernel(null)}>
            show all kernels
          </button>
        ) : null}
        <SaveMenu name="kernels" offers={[tableOffer(KERNELS, () => rows)]} />
      </div>
      <div class="counter-kernels-table" style={{ flexBasis: `${(rows.length + 1.6) * ROW_HEIGHT}em` }}>
        <DataTable
          label="Kernels"
          columns={KERNELS}
          rows={rows}
          isSelected={(kernel) => kernel.kernel === chosen?.kernel}
          onSelect={(kernel) => chooseKernel(kernel.kernel)}
          onHover={(kernel) => {
            preview.value = kernel ? { kernelRank: kernel.kernel } : {};
          }}
        />
      </div>
      <DispatchTable />
    </div>
  );
}

function DispatchTable() {
  const answer = useAnswer(json<Dispatches>(current.value, "counter_dispatches", ofChosen()));
  return (
    <Answered answer={answer}>
      {({ dispatches }) => {
        const cutNote = truncation(dispatches.rows.length, dispatches.row_count);
        return (
          <>
            <div class="toolbar counter-dispatches-head">
              <span>
                {counted(dispatches.row_count, "dispatches")}
                {chosenKernel() ? " of this kernel" : ""}
              </span>
              {cutNote ? <strong>{cutNote}</strong> : null}
              <SaveMenu name="dispatches" offers={[tableOffer(DISPATCHES, () => dispatches.rows)]} />
            </div>
            <div class="counter-dispatches-table">
              <DataTable
                label="Dispatches"
                columns={DISPATCHES}
                rows={dispatches.rows}
                onSelect={(dispatch) => chooseKernel(dispatch.kernel)}
              />
            </div>
          </>
        );
      }}
    </Answered>
  );
}

export const counterKernels: View = {
  id: "counter_kernels",
  title: "Kernels",
  hint: "Kernels of the capture, the longest first, and their dispatches; a click selects that kernel in every view",
  about: "counters",
  missing: () => "",
  component: Kernels,
};
