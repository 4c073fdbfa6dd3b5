// Dependencies: every wait with the instructions it waited for, how far ahead they were issued, how much was missing.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent, short } from "../base/format";
import { json } from "../data/ask";
import { type ProducerRow, truncation, type WaitRow, type WaitsAnswer } from "../model/answers";
import { selectRow } from "../model/code";
import { current, unlessUnknown } from "../model/document";
import { ofKernel } from "../model/kernels";
import { useAnswer } from "../model/loaded";
import { preview, selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { KernelChooser } from "../widgets/kernel_chooser";
import { RowLink } from "../widgets/links";
import { SaveMenu } from "../widgets/saving";

interface Edge {
  wait: WaitRow;
  /** Null where nothing is known about what was waited for. */
  producer: ProducerRow | null;
}

const round = (value: number | null | undefined) => (value === null || value === undefined ? "" : exact(value));

const COLUMNS: Column<Edge>[] = [
  { name: "row", title: "Row", hint: "Code row of the wait", value: (e) => e.wait.row, width: "4em" },
  {
    name: "text",
    title: "Wait",
    value: (e) => e.wait.text,
    width: "minmax(14em, 1fr)",
    show: (e) => <code>{e.wait.text}</code>,
  },
  {
    name: "stall_cycles_total",
    title: "Stall",
    hint: "Stall cycles of the wait, over all its executions and all its producers",
    value: (e) => e.wait.stall_cycles_total,
    width: "6em",
  },
  {
    name: "last_stall_cycles_mean",
    title: "Earlier by",
    hint: "Mean stall when it ended the wait: how many cycles earlier it would have to be issued",
    value: (e) => e.producer?.last_stall_cycles_mean ?? null,
    show: (e) => round(e.producer?.last_stall_cycles_mean),
    width: "6em",
  },
  {
    name: "producer_text",
    title: "Waits for",
    hint: "The instruction that had to complete; a click selects it",
    value: (e) => e.producer?.producer_text ?? "",
    show: (e) =>
      e.producer ? (
        <RowLink row={e.producer.producer_row} text={e.producer.producer_text} />
      ) : (
        <span class="faint-text">{e.wait.class}</span>
      ),
    width: "minmax(19em, 2fr)",
  },
  {
    name: "counter",
    title: "Counter",
    hint: "Hardware counter of the wait",
    value: (e) => e.producer?.counter ?? "",
    width: "6em",
  },
  {
    name: "count",
    title: "Times",
    hint: "Times that the wait certainly waited for it",
    value: (e) => e.producer?.count ?? null,
    width: "5em",
  },
  {
    name: "exposed_stall_cycles_total",
    title: "Exposed",
    hint: "Stall cycles of the wait that no other wave hid",
    value: (e) => e.wait.exposed_stall_cycles_total,
    width: "6em",
  },
  {
    name: "distance_cycles_mean",
    title: "Distance",
    hint: "Mean cycles from its issue to the first attempt of the wait",
    value: (e) => e.producer?.distance_cycles_mean ?? null,
    show: (e) => round(e.producer?.distance_cycles_mean),
    width: "5.5em",
  },
  {
    name: "distance_instructions_mean",
    title: "Instructions",
    hint: "Mean number of instructions of the wave from it to the wait",
    value: (e) => e.producer?.distance_instructions_mean ?? null,
    show: (e) => round(e.producer?.distance_instructions_mean),
    width: "6.5em",
  },
  {
    name: "latency_cycles_mean",
    title: "Latency",
    hint: "Mean cycles from its issue to the end of the wait; to its begin when it was done by then",
    value: (e) => e.producer?.latency_cycles_mean ?? null,
    show: (e) => round(e.producer?.latency_cycles_mean),
    width: "5.5em",
  },
  {
    name: "slack_cycles_mean",
    title: "Slack",
    hint: "When it was done before the wait: how many cycles early, on average",
    value: (e) => e.producer?.slack_cycles_mean ?? null,
    show: (e) => round(e.producer?.slack_cycles_mean),
    width: "5em",
  },
  {
    name: "last_count",
    title: "Ended it",
    hint: "Times that it certainly was what ended the wait",
    value: (e) => e.producer?.last_count ?? null,
    width: "5.5em",
  },
  {
    name: "candidate_count",
    title: "Maybe",
    hint: "Times it may have been awaited, but cannot be told from others",
    value: (e) => e.producer?.candidate_count ?? null,
    width: "5em",
  },
  {
    name: "class",
    title: "Class",
    hint: "What most of the wait's stall was for",
    value: (e) => e.wait.class,
    width: "minmax(8em, 1fr)",
  },
];

/** Every wait with each of its producers; a wait without a known producer once. */
function edgesOf(answer: WaitsAnswer): Edge[] {
  const byRow = new Map<number, ProducerRow[]>();
  for (const producer of answer.producers.rows) {
    byRow.set(producer.row, [...(byRow.get(producer.row) ?? []), producer]);
  }
  return answer.waits.rows.flatMap<Edge>((wait) => {
    const producers = byRow.get(wait.row);
    return producers ? producers.map((producer) => ({ wait, producer })) : [{ wait, producer: null }];
  });
}

function Waits() {
  const answer = useAnswer(json<WaitsAnswer>(current.value, "waits", ofKernel()));
  return (
    <Answered answer={answer} choose={<KernelChooser />}>
      {(value) => <Edges answer={value} />}
    </Answered>
  );
}

function Edges({ answer }: { answer: WaitsAnswer }) {
  const edges = useMemo(() => edgesOf(answer), [answer]);
  const clicked = useSignal<Edge | null>(null);
  const isOf = (edge: Edge) => edge.wait.row === selection.value.row;
  const chosen =
    clicked.value && isOf(clicked.value)
      ? clicked.value
      : (edges.find(isOf) ??
        edges.find((edge) => edge.producer !== null && edge.producer.producer_row === selection.value.row));
  const left =
    truncation(answer.waits.rows.length, answer.waits.row_count) ||
    truncation(answer.producers.rows.length, answer.producers.row_count);
  return (
    <div class="view">
      <div class="toolbar">
        <span title="Executions of wait instructions that held the wave longer than an issue slot">
          {exact(answer.stalled_count)} of {exact(answer.execution_count)} waits stalled (
          {percent(answer.stalled_count / (answer.execution_count || 1))}), {short(answer.stall_cycles_total)} cycles
        </span>
        {left ? <b class="truncated">{left}</b> : null}
        <KernelChooser />
        <SaveMenu name="dependencies" offers={[tableOffer(COLUMNS, () => edges)]} />
      </div>
      {edges.length ? (
        <DataTable
          label="Waits and their producers"
          columns={COLUMNS}
          rows={edges}
          isSelected={(edge) => edge === chosen}
          onSelect={(edge) => {
            clicked.value = edge;
            selectRow(edge.wait.row);
          }}
          onHover={(edge) => {
            preview.value = edge ? { row: edge.wait.row } : {};
          }}
        />
      ) : (
        <Nothing>{unlessUnknown("No wait instruction was executed in this trace")}.</Nothing>
      )}
    </div>
  );
}

export const waits: View = {
  id: "waits",
  title: "Dependencies",
  hint: "Every wait with the instructions it waited for: how far ahead they were issued, and how much earlier is needed",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced, so nothing waited",
  component: Waits,
};
