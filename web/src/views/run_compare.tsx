// This run against another one: what got slower or faster, beyond what equal runs differ by.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../base/format";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { current, documents } from "../model/document";
import { useAnswer } from "../model/loaded";
import { selectKernel, type Told } from "../model/run";
import { selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { ChangeBar } from "../widgets/bars";
import { BaseChooser } from "../widgets/base_chooser";
import { Definition } from "../widgets/cards";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { type Described, figureColumns, Looked } from "../widgets/figure_columns";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";

interface Thing {
  domain: string;
  name: string;
  status: string;
  delta_ns: number;
  side: number;
}

interface Comparison {
  definition: string;
  sides: Told<{ label: string }>;
  things: Told<Thing>;
  step: string | null;
  repeat_count: number;
  verdict: string;
}

const SIDES: Described[] = [
  ["label", "Run", "text"],
  ["process_count", "Processes", "count"],
  ["step_count", "Steps", "count"],
  ["gpu_ns", "GPU time per unit", "ns"],
  ["change", "Change", "change"],
  ["wall_ns", "Wall time", "ns"],
];
const NAMES: Described[] = [
  ["name", "Name", "text", "minmax(14em, 3fr)"],
  ["domain", "Kind", "text", "7em"],
  ["status", "What changed", "text", "8em"],
];
const FIGURES: Described[] = [
  ["change", "Change of mean", "change", "8em"],
  ["noise", "Noise", "share"],
  ["base_mean_ns", "Mean before", "ns"],
  ["mean_ns", "Mean after", "ns"],
  ["base_calls", "Calls before", "count"],
  ["calls", "Calls after", "count"],
  ["work_ns", "by calls", "ns"],
  ["speed_ns", "by speed", "ns"],
  ["delta_share", "Of GPU time", "change"],
];
const QUIET = ["same", "unknown"];

function RunCompare() {
  const others = documents.value.filter((line) => line.number !== current.value && (line.kind ?? "run") === "run");
  const base = useSignal(others[0]?.number ?? -1);
  const answer = useAnswer(
    base.value >= 0 ? json<Comparison>(current.value, "run_compare", { base: base.value }) : null,
  );
  if (!others.length) {
    return (
      <p class="note">
        Only one run is open. To compare two, open both: <code>wavescope open BEFORE AFTER</code>
      </p>
    );
  }
  const choose = <BaseChooser others={others} base={base} view="run_compare" />;
  return (
    <Answered answer={answer} choose={choose}>
      {(value) => <Tables answer={value} choose={choose} />}
    </Answered>
  );
}

function Tables({ answer, choose }: { answer: Comparison; choose: preact.ComponentChild }) {
  const { sides, things } = answer;
  const all = useSignal(false);
  const columns = useMemo(() => {
    const most = Math.max(1, ...things.rows.map((thing) => Math.abs(thing.delta_ns)));
    const delta: Column<Thing> = {
      name: "delta_ns",
      title: "Difference",
      hint: things.hints.delta_ns ?? "",
      value: (thing) => thing.delta_ns,
      show: (thing) => (
        <span class="share-cell">
          <ChangeBar share={thing.delta_ns / most} faint={QUIET.includes(thing.status)} label={thing.status} />
          <Looked value={thing.delta_ns} look="ns" />
        </span>
      ),
      width: "12em",
    };
    return [...figureColumns<Thing>(things.hints, NAMES), delta, ...figureColumns<Thing>(things.hints, FIGURES)];
  }, [answer]);
  const changed = things.rows.filter((thing) => !QUIET.includes(thing.status));
  const rows = all.value ? things.rows : changed;
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <label>
          <input
            type="checkbox"
            checked={all.value}
            onChange={(event) => {
              all.value = event.currentTarget.checked;
            }}
          />{" "}
          also what did not change beyond noise ({exact(things.rows.length - changed.length)})
        </label>
        {truncation(things.rows.length, things.row_count) ? (
          <strong>{truncation(things.rows.length, things.row_count)}</strong>
        ) : null}
        <SaveMenu name="compare" offers={[tableOffer(columns, () => rows)]} />
      </div>
      <div class="summary-head">
        <p data-verdict>{answer.verdict}</p>
        <SmallTable
          label="The two runs"
          columns={figureColumns<{ label: string }>(sides.hints, SIDES)}
          rows={sides.rows}
        />
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
          isSelected={(thing) => thing.domain === "KERNEL" && thing.name === selection.value.kernel}
          onSelect={(thing) => {
            if (thing.domain === "KERNEL") selectKernel(thing.name);
          }}
        />
      ) : (
        <p class="note">Nothing changed beyond noise.</p>
      )}
    </div>
  );
}

export const runCompare: View = {
  id: "run_compare",
  title: "Compare",
  hint: "This run against another one: what got slower or faster, and whether that is more than noise",
  about: "run",
  missing: () => "",
  component: RunCompare,
};
