// This counter capture against another one: kernel times and metrics that changed beyond noise.

import { useSignal } from "@preact/signals";
import { exact } from "../base/format";
import { matcher } from "../base/matcher";
import {
  COUNTER_COMPARE_KERNELS,
  COUNTER_COMPARE_METRICS,
  COUNTER_COMPARE_SIDES,
  type CounterCompareAnswer,
  type CounterCompareKernelsRow,
  type CounterCompareMetricsRow,
  type CounterCompareSidesRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { comparable, comparedBase } from "../model/baseline";
import { chooseKernel, chosenKernel } from "../model/counters";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { select } from "../model/selection";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { BaseChooser } from "../widgets/baseline_chooser";
import { Definition } from "../widgets/cards";
import { Caveats } from "../widgets/caveats";
import { Check } from "../widgets/check";
import { CounterKernelChooser } from "../widgets/counter_choice";
import { DataTable, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { FilterField } from "../widgets/filter_field";
import { otherSides, useOthers } from "../widgets/others";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";

const SIDES = figureColumns<CounterCompareSidesRow>(COUNTER_COMPARE_SIDES, [
  ["label", "Capture", "text"],
  ["target", "GPU", "text"],
  ["product", "Product", "text"],
  ["kernel_count", "Kernels"],
  ["dispatch_count", "Dispatches"],
  ["duration_ns", "Kernel time"],
  ["change", "Change", "change"],
]);
const KERNELS = figureColumns<CounterCompareKernelsRow>(COUNTER_COMPARE_KERNELS, [
  ["kernel_name", "Kernel", "text", "minmax(12em, 3fr)"],
  ["status", "What changed", "text", "7em"],
  ["change", "Change", "change"],
  ["noise", "Noise", "share"],
  ["base_mean_ns", "Mean before"],
  ["mean_ns", "Mean after"],
  ["base_dispatch_count", "Dispatches before"],
  ["dispatch_count", "after"],
  ["delta_ns", "Difference"],
]);
const METRICS = figureColumns<CounterCompareMetricsRow>(COUNTER_COMPARE_METRICS, [
  ["metric_id", "Id", "text", "5em"],
  ["name", "Metric", "text", "minmax(10em, 2fr)"],
  { name: "kernel_name", title: "Kernel", value: (row) => row.kernel_name ?? "all", width: "minmax(6em, 2fr)" },
  ["status", "What changed", "text", "9em"],
  ["base", "Before", "measured"],
  ["value", "After", "measured"],
  ["change", "Change", "change"],
  ["delta", "Difference", "measured"],
  ["noise", "Noise", "measured"],
  ["unit", "Unit", "text", "7em"],
]);
/** What happened to metrics that are shown only when asked for. */
const QUIET = ["same", "blank", "unknown"];

function CounterCompare() {
  const base = comparedBase();
  const answer = useAnswer(
    base === null ? null : json<CounterCompareAnswer>(current.value, "counter_compare", { base }),
  );
  if (base === null) {
    return (
      <p class="note">
        Only one counter capture is open. To compare two, open both: <code>wavewright open BEFORE AFTER</code>
      </p>
    );
  }
  const choose = <BaseChooser base={base} view="counter_compare" />;
  return (
    <Answered answer={answer} choose={choose}>
      {(value) => <Tables answer={value} base={base} choose={choose} />}
    </Answered>
  );
}

interface TablesProps {
  answer: CounterCompareAnswer;
  base: number;
  choose: preact.ComponentChild;
}

function Tables({ answer, base, choose }: TablesProps) {
  const others = useOthers(base, "captures", (document) =>
    json<CounterCompareAnswer>(document, "counter_compare", { base }),
  );
  const { sides, kernels, metrics } = answer;
  const withQuiet = useSignal(false);
  const query = useSignal("");
  const chosen = chosenKernel();
  const search = matcher(query.value);
  const ofKernel = metrics.rows.filter((row) => !chosen || row.kernel === chosen.kernel || row.kernel_name === null);
  const rows = ofKernel.filter(
    (row) =>
      (withQuiet.value || !QUIET.includes(row.status)) &&
      (!query.value || search.test(row.name) || search.test(row.metric_id)),
  );
  const cutNote = truncation(metrics.rows.length, metrics.row_count);
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <CounterKernelChooser />
        <FilterField
          query={query}
          placeholder="metric or /regex/"
          label="Metrics whose name or id contains"
          problem={search.problem}
        />
        <Check isOn={withQuiet.value} onChange={(isOn) => (withQuiet.value = isOn)}>
          also show what changed within noise
        </Check>
        <span>
          {exact(rows.length)} of {exact(ofKernel.length)} metrics
        </span>
        {cutNote ? <strong>{cutNote}</strong> : null}
        <SaveMenu name="counter-compare" offers={[tableOffer(METRICS, () => rows)]} />
      </div>
      <div class="summary-head">
        <p data-verdict>{answer.verdict}</p>
        <Caveats caveats={answer.notes} />
        <Answered answer={others.answers}>
          {(more) => <SmallTable label="The captures" columns={SIDES} rows={[...sides.rows, ...otherSides(more)]} />}
        </Answered>
        {others.button}
        <SmallTable
          label="Kernels that changed"
          columns={KERNELS}
          rows={kernels.rows}
          total={kernels.row_count}
          isSelected={(row) => row.kernel !== null && row.kernel === chosen?.kernel}
          onSelect={(row) => chooseKernel(row.kernel)}
        />
        <Definition text={answer.definition} />
      </div>
      {rows.length ? (
        <DataTable
          label="Metrics that changed"
          columns={METRICS}
          rows={rows}
          onSelect={(row) => select({ metric: row.metric_id })}
        />
      ) : (
        <p class="note">
          No metric{chosen ? " of this kernel" : ""} changed beyond noise.{" "}
          {chosen ? (
            <button type="button" class="link" onClick={() => chooseKernel(null)}>
              Show those of all kernels
            </button>
          ) : null}
        </p>
      )}
    </div>
  );
}

export const counterCompare: View = {
  id: "counter_compare",
  title: "Compare",
  hint: "This counter capture against another one: kernel times and metrics that changed, and whether that is more than noise",
  about: "counters",
  missing: () => (comparable().length ? "" : "only one counter capture is open; Open adds another"),
  component: CounterCompare,
};
