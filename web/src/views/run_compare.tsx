// This run against another one: what got slower or faster, beyond what equal runs differ by.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../base/format";
import {
  RUN_COMPARE_OPERATORS,
  RUN_COMPARE_PARTS,
  RUN_COMPARE_SIDES,
  RUN_COMPARE_THINGS,
  RUN_COMPARE_TREE,
  type RunCompareAnswer,
  type RunCompareOperatorsRow,
  type RunComparePartsRow,
  type RunCompareSidesRow,
  type RunCompareThingsRow,
  type RunCompareTreeRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { comparable, comparedBase } from "../model/baseline";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { selectKernel } from "../model/run";
import { selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { ChangeBar } from "../widgets/bars";
import { BaseChooser } from "../widgets/baseline_chooser";
import { Definition } from "../widgets/cards";
import { Check } from "../widgets/check";
import { DataTable, tableOffer } from "../widgets/data_table";
import { type ColumnChoice, FormattedCell, figureColumns } from "../widgets/figure_columns";
import { otherSides, useOthers } from "../widgets/others";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";

const SIDES = figureColumns<RunCompareSidesRow>(RUN_COMPARE_SIDES, [
  ["label", "Run", "text"],
  ["process_count", "Processes"],
  ["step_count", "Steps"],
  ["gpu_ns", "GPU time per unit"],
  ["change", "Change", "change"],
  ["noise", "Noise", "share"],
  ["wall_ns", "Wall time"],
  ["gpu_count", "GPUs"],
  ["computation_ns", "Computing"],
  ["communication_ns", "Communicating"],
  ["copy_ns", "Copying"],
  ["idle_ns", "Idle"],
]);
const PARTS = figureColumns<RunComparePartsRow>(RUN_COMPARE_PARTS, [
  { name: "status", title: "What", show: (part) => partTitle(part) },
  ["thing_count", "Kernels and copies"],
  ["delta_ns", "Difference"],
  ["largest_delta_ns", "Largest"],
  ["largest_name", "of", "text"],
]);
const NAMES = figureColumns<RunCompareThingsRow>(RUN_COMPARE_THINGS, [
  ["name", "Name", "text", "minmax(24em, 3fr)"],
  ["domain", "Kind", "text", "7em"],
  ["status", "What changed", "text", "9em"],
  ["base_name", "Name before", "text", "minmax(8em, 1fr)"],
]);
const FIGURES = figureColumns<RunCompareThingsRow>(RUN_COMPARE_THINGS, [
  ["change", "Change of mean", "change", "8em"],
  ["noise", "Noise", "share"],
  ["base_mean_ns", "Mean before"],
  ["mean_ns", "Mean after"],
  ["base_calls", "Calls before"],
  ["calls", "Calls after"],
  ["work_ns", "by calls"],
  ["speed_ns", "by speed"],
  ["delta_share", "Of GPU time", "change"],
]);
const OPERATORS = figureColumns<RunCompareOperatorsRow>(RUN_COMPARE_OPERATORS, [
  ["name", "Operator", "text"],
  ["status", "What changed", "text"],
  ["delta_ns", "Difference"],
  ["change", "Change", "change"],
  ["noise", "Noise", "share"],
  ["base_ns", "Before"],
  ["time_ns", "After"],
  ["pair_count", "Pairs"],
  ["base_gpu_count", "Kernels before"],
  ["gpu_count", "Kernels after"],
  ["base_only", "Only before", "text"],
  ["side_only", "Only after", "text"],
]);
const TREE = figureColumns<RunCompareTreeRow>(RUN_COMPARE_TREE, [
  {
    name: "name",
    title: "Called",
    show: (node) => <span style={{ paddingLeft: `${node.depth}ch` }}>{node.name}</span>,
  },
  ["delta_ns", "Difference"],
  ["base_ns", "Before"],
  ["time_ns", "After"],
  ["pair_count", "Pairs"],
]);
/** What happened to things that are shown only when asked for: their difference is not attributed. */
const QUIET = ["same", "cannot tell"];
/** What those are called among the parts of the difference. */
const REMAINDER: Record<string, string> = {
  same: "not attributed: within noise",
  "cannot tell": "not attributed: calls too few or too uneven to tell",
};

function partTitle(part: RunComparePartsRow): string {
  return REMAINDER[part.status] ?? part.status;
}

function RunCompare() {
  const base = comparedBase();
  const answer = useAnswer(base === null ? null : json<RunCompareAnswer>(current.value, "run_compare", { base }));
  if (base === null) {
    return (
      <p class="note">
        Only one run is open. To compare two, open both: <code>wavewright open BEFORE AFTER</code>
      </p>
    );
  }
  const choose = <BaseChooser base={base} view="run_compare" />;
  return (
    <Answered answer={answer} choose={choose}>
      {(value) => <Tables answer={value} base={base} choose={choose} />}
    </Answered>
  );
}

/** Columns of the differences: the bars are of the largest one. */
function columnsFor(things: RunCompareThingsRow[]) {
  const most = Math.max(1, ...things.map((thing) => Math.abs(thing.delta_ns)));
  const delta: ColumnChoice<RunCompareThingsRow> = {
    name: "delta_ns",
    title: "Difference",
    show: (thing) => (
      <span class="share-cell">
        <ChangeBar share={thing.delta_ns / most} faint={QUIET.includes(thing.status)} label={thing.status} />
        <FormattedCell value={thing.delta_ns} format="ns" />
      </span>
    ),
    width: "12em",
  };
  const names = NAMES.filter((column) => column.name !== "base_name" || things.some((thing) => thing.base_name));
  return [...names, ...figureColumns<RunCompareThingsRow>(RUN_COMPARE_THINGS, [delta]), ...FIGURES];
}

function Tables({ answer, base, choose }: { answer: RunCompareAnswer; base: number; choose: preact.ComponentChild }) {
  const others = useOthers(base, "runs", (document) => json<RunCompareAnswer>(document, "run_compare", { base }));
  const { sides, parts, things, operators, tree } = answer;
  const withQuiet = useSignal(false);
  const columns = useMemo(() => columnsFor(things.rows), [answer]);
  const changed = things.rows.filter((thing) => !QUIET.includes(thing.status));
  const cutNote = truncation(things.rows.length, things.row_count);
  const rows = withQuiet.value ? things.rows : changed;
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <Check isOn={withQuiet.value} onChange={(isOn) => (withQuiet.value = isOn)}>
          also show what is not attributed ({exact(things.rows.length - changed.length)})
        </Check>
        {cutNote ? <strong>{cutNote}</strong> : null}
        <SaveMenu name="compare" offers={[tableOffer(columns, () => rows)]} />
      </div>
      <div class="summary-head">
        <p data-verdict>{answer.verdict}</p>
        {answer.time_verdict ? <p data-time-verdict>{answer.time_verdict}</p> : null}
        {answer.structure_verdict ? <p data-structure-verdict>{answer.structure_verdict}</p> : null}
        <Answered answer={others.answers}>
          {(more) => <SmallTable label="The runs" columns={SIDES} rows={[...sides.rows, ...otherSides(more)]} />}
        </Answered>
        {others.button}
        {parts.rows.length ? (
          <SmallTable label="What the difference of the GPU time is made of" columns={PARTS} rows={parts.rows} />
        ) : null}
        {answer.structure_verdict ? (
          <>
            <details class="definition" open>
              <summary>By what both runs call</summary>
              <SmallTable label="By what both runs call" columns={OPERATORS} rows={operators.rows} />
            </details>
            <details class="definition">
              <summary>By levels of calls</summary>
              <SmallTable label="By levels of calls" columns={TREE} rows={tree.rows} />
            </details>
          </>
        ) : null}
        <p class="faint-text">
          {answer.step ? `Amounts are per step: the marker range “${answer.step}”.` : "Amounts are per run."}
        </p>
        <Definition text={answer.definition} />
      </div>
      {rows.length ? (
        <DataTable
          label="Differences"
          columns={columns}
          rows={rows}
          isSelected={(thing) => thing.domain === "KERNEL" && thing.name === selection.value.kernelName}
          onSelect={(thing) => {
            if (thing.domain === "KERNEL") selectKernel(thing.name);
          }}
        />
      ) : (
        <p class="note">No change is beyond noise.</p>
      )}
    </div>
  );
}

export const runCompare: View = {
  id: "run_compare",
  title: "Compare",
  hint: "This run against another one: what got slower or faster, and whether that is more than noise",
  about: "run",
  time: "whole",
  missing: () => (comparable().length ? "" : "only one run is open; Open adds another"),
  component: RunCompare,
};
