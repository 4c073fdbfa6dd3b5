// Where the time of a run went: by kind of thing, and every thing of a kind; for the whole run or by rank, GPU, stream, marker.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { nanoseconds, percent } from "../base/format";
import {
  ASKED,
  RUN_SUMMARY_DOMAINS,
  RUN_SUMMARY_THINGS,
  type RunSummaryAnswer,
  type RunSummaryDomainsRow,
  type RunSummaryThingsRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { runChange, thingChange } from "../model/changes";
import { current, runOverview } from "../model/document";
import { useAnswer } from "../model/loaded";
import { gpuName, processName, selectKernel } from "../model/run";
import { selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition, Figure } from "../widgets/cards";
import { Delta, withChanges } from "../widgets/changes";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { type ColumnChoice, DURATIONS, figureColumns } from "../widgets/figure_columns";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";

/** By what rows are grouped: the parameter, and what rows are of. */
const GROUPINGS = [
  ["all", "the whole run"],
  ["rank", "each rank"],
  ["process", "each process"],
  ["gpu", "each GPU"],
  ["stream", "each stream"],
  ["marker", "each marker range"],
] as const;
const FIGURES: ColumnChoice<Omit<RunSummaryDomainsRow, "name_count">>[] = [
  ...DURATIONS,
  ["bytes_total", "Bytes", "bytes"],
];
const DOMAINS = figureColumns<RunSummaryDomainsRow>(RUN_SUMMARY_DOMAINS, [
  ["domain", "Kind", "text", "8em"],
  ["name_count", "Names", "count", "5em"],
  ...FIGURES,
]);
const THINGS = figureColumns<RunSummaryThingsRow>(RUN_SUMMARY_THINGS, [
  ["name", "Name", "kernel", "minmax(18em, 3fr)"],
  ["domain", "Kind", "text", "8em"],
  ...FIGURES,
]);

/** Columns that show the change from the baseline, where one is chosen. */
const COMPARED = [
  {
    name: "mean_ns",
    format: "ns" as const,
    of: ({ domain, name }: RunSummaryThingsRow) => thingChange(domain, name, "mean_ns"),
  },
];

type Grouped = Pick<RunSummaryThingsRow, "host" | "pid" | "rank" | "gpu" | "stream" | "marker">;

/** The column that says which group a row belongs to; none for the whole run. */
function groupColumn<Row extends Grouped>(by: string, nodes: number): Column<Row>[] {
  const names: Record<string, (row: Grouped) => string> = {
    rank: (row) => (row.rank === null ? "no rank" : `rank ${row.rank}`),
    process: (row) => processName(row.pid, row.rank),
    gpu: (row) => gpuName(row.host, row.gpu, nodes),
    stream: (row) => `${processName(row.pid, row.rank)} stream ${row.stream ?? "not recorded"}`,
    marker: (row) => row.marker || "outside of markers",
  };
  const value = names[by];
  return value ? [{ name: by, title: by === "gpu" ? "GPU" : by, value, width: "minmax(8em, 1fr)" }] : [];
}

function RunSummary() {
  const by = useSignal<string>("all");
  const answer = useAnswer(json<RunSummaryAnswer>(current.value, "run_summary", { by: by.value }));
  const choose = (
    <label>
      of{" "}
      <select
        value={by.value}
        data-choose="by"
        onChange={(event) => {
          by.value = event.currentTarget.value;
        }}
      >
        {GROUPINGS.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Answered answer={answer} choose={choose}>
      {(value) => <Tables answer={value} choose={choose} />}
    </Answered>
  );
}

function Tables({ answer, choose }: { answer: RunSummaryAnswer; choose: preact.ComponentChild }) {
  const { domains, things, by, definition } = answer;
  /** The kind that is shown; empty = all. */
  const domain = useSignal("");
  const nodes = runOverview().clocks.nodes.length;
  const columns = useMemo(() => {
    return {
      domains: [...groupColumn<RunSummaryDomainsRow>(by, nodes), ...DOMAINS],
      things: [...groupColumn<RunSummaryThingsRow>(by, nodes), ...THINGS],
    };
  }, [answer]);
  const rows = useMemo(
    () => (domain.value ? things.rows.filter((thing) => thing.domain === domain.value) : things.rows),
    [things, domain.value],
  );
  const cutNote = truncation(things.rows.length, things.row_count);
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <DomainSelect domain={domain} names={[...new Set(domains.rows.map((row) => row.domain))]} />
        {cutNote ? <strong>{cutNote}</strong> : null}
        <SaveMenu name="summary" offers={[tableOffer(columns.things, () => rows)]} />
      </div>
      {domains.row_count === 0 ? (
        <Nothing>Nothing that took time was recorded for this choice.</Nothing>
      ) : (
        <>
          <div class="summary-head">
            <Figures answer={answer} />
            <SmallTable
              label="By kind"
              columns={columns.domains}
              rows={domains.rows}
              total={domains.row_count}
              isSelected={(row) => row.domain === domain.value}
              onSelect={(row) => {
                domain.value = row.domain === domain.value ? "" : row.domain;
              }}
            />
            <Definition text={definition} />
          </div>
          <DataTable
            label="Things that took time"
            columns={by === "all" ? withChanges(columns.things, rows, COMPARED) : columns.things}
            rows={rows}
            isSelected={(row) => row.domain === "KERNEL" && row.name === selection.value.kernelName}
            onSelect={(row) => {
              if (row.domain === "KERNEL") selectKernel(row.name);
            }}
          />
        </>
      )}
    </div>
  );
}

function DomainSelect({ domain, names }: { domain: Signal<string>; names: string[] }) {
  return (
    <label>
      kind{" "}
      <select
        value={domain.value}
        data-choose="domain"
        onChange={(event) => {
          domain.value = event.currentTarget.value;
        }}
      >
        <option value="">all</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Figures({ answer }: { answer: RunSummaryAnswer }) {
  return (
    <div class="figures">
      <Figure
        id="gpu_ns"
        value={nanoseconds(answer.gpu_ns)}
        name="GPU time"
        hint="Time of all kernels and copies together"
        change={<Delta change={runChange("gpu_ns")} format="ns" isCost />}
      />
      <Figure
        id="wall_ns"
        value={nanoseconds(answer.wall_ns)}
        name="wall time"
        hint="From the first to the last event, on the node with the longest span"
        change={<Delta change={runChange("wall_ns")} format="ns" isCost />}
      />
      <Figure
        id="busy_share"
        value={percent(answer.busy_share) || "–"}
        name="GPUs busy"
        hint="Share of the time of all processes in which their GPUs had work"
      />
      <Figure id="gpu_count" value={String(answer.gpu_count)} name="GPUs used" hint="GPUs that kernels ran on" />
    </div>
  );
}

export const runSummary: View = {
  id: "run_summary",
  title: "Summary",
  hint: ASKED.run_summary,
  about: "run",
  time: "selected",
  missing: () => "",
  component: RunSummary,
};
