// Dependencies: every wait with the instructions it waited for, how far ahead they were issued, how much was missing.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent, short } from "../base/format";
import { groupBy } from "../base/group";
import { WAITS, WAITS_PRODUCERS, type WaitsAnswer, type WaitsProducersRow, type WaitsRow } from "../data/answers.gen";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { selectRow } from "../model/code";
import { current, unlessUnknown } from "../model/document";
import { ofKernel } from "../model/kernels";
import { useAnswer } from "../model/loaded";
import { preview, selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { DataTable, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { KernelChooser } from "../widgets/kernel_chooser";
import { RowLink } from "../widgets/links";
import { SaveMenu } from "../widgets/saving";

/** A wait with one of its producers; a wait whose producers are not known stands alone. */
type Edge = WaitsRow & Partial<Omit<WaitsProducersRow, "row">>;

const COLUMNS = figureColumns<Edge>({ ...WAITS_PRODUCERS, ...WAITS }, [
  ["row", "Row", "id", "4em"],
  { name: "text", title: "Wait", show: (edge) => <code>{edge.text}</code>, width: "minmax(14em, 1fr)" },
  ["stall_cycles_total", "Stall"],
  ["last_stall_cycles_mean", "Earlier by"],
  {
    name: "producer_text",
    title: "Waits for",
    hint: "The instruction that had to complete; a click selects it",
    show: (edge) =>
      edge.producer_row === undefined ? (
        <span class="faint-text">{edge.class}</span>
      ) : (
        <RowLink row={edge.producer_row} text={edge.producer_text ?? ""} />
      ),
    width: "minmax(19em, 2fr)",
  },
  ["counter", "Counter", "text", "6em"],
  ["count", "Times", "count", "5em"],
  ["exposed_stall_cycles_total", "Exposed"],
  ["distance_cycles_mean", "Distance", "cycles", "5.5em"],
  ["distance_instructions_mean", "Instructions", "cycles", "6.5em"],
  ["latency_cycles_mean", "Latency", "cycles", "5.5em"],
  ["slack_cycles_mean", "Slack", "cycles", "5em"],
  ["last_count", "Ended it", "count", "5.5em"],
  ["candidate_count", "Maybe", "count", "5em"],
  ["class", "Class", "text"],
]);

function edgesOf(answer: WaitsAnswer): Edge[] {
  const producers = groupBy(answer.producers.rows, (producer) => producer.row);
  return answer.waits.rows.flatMap<Edge>((wait) =>
    (producers.get(wait.row) ?? [{}]).map((producer) => ({ ...producer, ...wait })),
  );
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
  const isOf = (edge: Edge) => edge.row === selection.value.row;
  const chosen =
    clicked.value && isOf(clicked.value)
      ? clicked.value
      : (edges.find(isOf) ??
        edges.find((edge) => edge.producer_row !== undefined && edge.producer_row === selection.value.row));
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
            selectRow(edge.row);
          }}
          onHover={(edge) => {
            preview.value = edge ? { row: edge.row } : {};
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
