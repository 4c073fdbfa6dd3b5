// This counter capture against another one: kernel times and metrics that changed beyond noise.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, measured } from "../base/format";
import { matcher } from "../base/matcher";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { chooseKernel, chosenKernel } from "../model/counters";
import { current, documents } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { Told } from "../model/run";
import { select } from "../model/selection";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { BaseChooser } from "../widgets/base_chooser";
import { Definition } from "../widgets/cards";
import { CounterKernelChooser } from "../widgets/counter_choice";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { Doubts } from "../widgets/doubts";
import { type Described, figureColumns, Looked } from "../widgets/figure_columns";
import { FilterField } from "../widgets/filter_field";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";

interface KernelChange {
  kernel: number | null;
  kernel_name: string;
  status: string;
}

interface MetricChange {
  /** Rank in this capture; null = all dispatches, or only the base has it. */
  kernel: number | null;
  kernel_name: string | null;
  metric_id: string;
  table_id: string;
  name: string;
  unit: string;
  status: string;
  base: number | null;
  value: number | null;
  delta: number | null;
  change: number | null;
  noise: number | null;
}

interface Comparison {
  definition: string;
  verdict: string;
  notes: string[];
  sides: Told<{ label: string }>;
  kernels: Told<KernelChange>;
  metrics: Told<MetricChange>;
}

const SIDES: Described[] = [
  ["label", "Capture", "text"],
  ["target", "GPU", "text"],
  ["product", "Product", "text"],
  ["kernel_count", "Kernels", "count"],
  ["dispatch_count", "Dispatches", "count"],
  ["duration_ns", "Kernel time", "ns"],
  ["change", "Change", "change"],
];
const KERNELS: Described[] = [
  ["kernel_name", "Kernel", "text", "minmax(12em, 3fr)"],
  ["status", "What changed", "text", "7em"],
  ["change", "Change", "change"],
  ["noise", "Noise", "share"],
  ["base_mean_ns", "Mean before", "ns"],
  ["mean_ns", "Mean after", "ns"],
  ["base_dispatch_count", "Dispatches before", "count"],
  ["dispatch_count", "after", "count"],
  ["delta_ns", "Difference", "ns"],
];
const QUIET = ["same", "blank", "unknown"];

function CounterCompare() {
  const others = documents.value.filter(
    (line) => line.number !== current.value && (line.kind ?? "counters") === "counters",
  );
  const base = useSignal(others[0]?.number ?? -1);
  const answer = useAnswer(
    base.value >= 0 ? json<Comparison>(current.value, "counter_compare", { base: base.value }) : null,
  );
  if (!others.length) {
    return (
      <p class="note">
        Only one counter capture is open. To compare two, open both: <code>wavescope open BEFORE AFTER</code>
      </p>
    );
  }
  const choose = <BaseChooser others={others} base={base} view="counter_compare" />;
  return (
    <Answered answer={answer} choose={choose}>
      {(value) => <Tables answer={value} choose={choose} />}
    </Answered>
  );
}

const number = (name: "base" | "value" | "delta" | "noise", title: string, hint: string): Column<MetricChange> => ({
  name,
  title,
  hint,
  value: (row) => row[name],
  show: (row) => measured(row[name]) || "–",
  width: "7em",
});

function metricColumns(hints: Record<string, string>): Column<MetricChange>[] {
  return [
    { name: "metric_id", title: "Id", value: (row) => row.metric_id, width: "5em" },
    { name: "name", title: "Metric", value: (row) => row.name, width: "minmax(10em, 2fr)" },
    { name: "kernel_name", title: "Kernel", value: (row) => row.kernel_name ?? "all", width: "minmax(6em, 2fr)" },
    { name: "status", title: "What changed", hint: hints.status ?? "", value: (row) => row.status, width: "7em" },
    number("base", "Before", hints.base ?? ""),
    number("value", "After", hints.value ?? ""),
    {
      name: "change",
      title: "Change",
      hint: hints.change ?? "",
      value: (row) => row.change,
      show: (row) => <Looked value={row.change} look="change" />,
      width: "6em",
    },
    number("delta", "Difference", hints.delta ?? ""),
    number("noise", "Noise", hints.noise ?? ""),
    { name: "unit", title: "Unit", value: (row) => row.unit, width: "7em" },
  ];
}

function Tables({ answer, choose }: { answer: Comparison; choose: preact.ComponentChild }) {
  const { sides, kernels, metrics } = answer;
  const all = useSignal(false);
  const query = useSignal("");
  const columns = useMemo(() => metricColumns(metrics.hints), [answer]);
  const kernelColumns = useMemo(() => figureColumns<KernelChange>(kernels.hints, KERNELS), [answer]);
  const chosen = chosenKernel();
  const wanted = matcher(query.value);
  const mine = metrics.rows.filter((row) => !chosen || row.kernel === chosen.kernel || row.kernel_name === null);
  const rows = mine.filter(
    (row) =>
      (all.value || !QUIET.includes(row.status)) &&
      (!query.value || wanted.test(row.name) || wanted.test(row.metric_id)),
  );
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <CounterKernelChooser />
        <FilterField
          query={query}
          placeholder="metric or /regex/"
          label="Metrics whose name or id contains"
          problem={wanted.problem}
        />
        <label>
          <input
            type="checkbox"
            checked={all.value}
            onChange={(event) => {
              all.value = event.currentTarget.checked;
            }}
          />
          also what did not change beyond noise
        </label>
        <span>
          {exact(rows.length)} of {exact(mine.length)} metrics
        </span>
        {truncation(metrics.rows.length, metrics.row_count) ? (
          <strong>{truncation(metrics.rows.length, metrics.row_count)}</strong>
        ) : null}
        <SaveMenu name="counter-compare" offers={[tableOffer(columns, () => rows)]} />
      </div>
      <div class="summary-head">
        <p data-verdict>{answer.verdict}</p>
        <Doubts doubts={answer.notes} />
        <SmallTable
          label="The two captures"
          columns={figureColumns<{ label: string }>(sides.hints, SIDES)}
          rows={sides.rows}
        />
        <SmallTable
          label="Kernels that changed"
          columns={kernelColumns}
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
          columns={columns}
          rows={rows}
          onSelect={(row) => select({ metric: row.metric_id })}
        />
      ) : (
        <p class="note">No metric changed beyond noise.</p>
      )}
    </div>
  );
}

export const counterCompare: View = {
  id: "counter_compare",
  title: "Compare",
  hint: "This counter capture against another one: kernel times and metrics that changed, and whether that is more than noise",
  about: "counters",
  missing: () => "",
  component: CounterCompare,
};
