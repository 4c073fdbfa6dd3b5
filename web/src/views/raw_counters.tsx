// Counters as they were measured, before any formula.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted, exact, measured } from "../base/format";
import { matcher } from "../base/matcher";
import { json } from "../data/ask";
import { ofChosen } from "../model/counters";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { Told } from "../model/run";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { CounterKernelChooser } from "../widgets/counter_choice";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { FilterField } from "../widgets/filter_field";
import { SaveMenu } from "../widgets/saving";

interface RawCounter {
  counter: string;
  pass: number;
  pass_name: string;
  channel_count: number;
  dispatch_count: number;
  total: number | null;
  mean: number | null;
  minimum: number | null;
  maximum: number | null;
}

interface RawAnswer {
  definition: string;
  dispatch_count: number;
  counters: Told<RawCounter>;
}

function RawCounters() {
  const answer = useAnswer(json<RawAnswer>(current.value, "counter_raw", ofChosen()));
  return (
    <Answered answer={answer} choose={<CounterKernelChooser />}>
      {(value) => <Table answer={value} />}
    </Answered>
  );
}

function columnsOf(hints: Record<string, string>): Column<RawCounter>[] {
  const amount = (name: "total" | "mean" | "minimum" | "maximum", title: string): Column<RawCounter> => ({
    name,
    title,
    hint: hints[name] ?? title,
    value: (row) => row[name],
    show: (row) => measured(row[name]) || "–",
    width: "9em",
  });
  return [
    { name: "counter", title: "Counter", value: (row) => row.counter, width: "minmax(16em, 2fr)" },
    {
      name: "pass_name",
      title: "Pass",
      hint: hints.pass_name ?? "",
      value: (row) => row.pass_name,
      width: "minmax(8em, 1fr)",
    },
    amount("mean", "Mean"),
    amount("minimum", "Min"),
    amount("maximum", "Max"),
    amount("total", "Total"),
    {
      name: "dispatch_count",
      title: "Dispatches",
      hint: hints.dispatch_count ?? "",
      value: (row) => row.dispatch_count,
      width: "6em",
    },
    {
      name: "channel_count",
      title: "Channels",
      hint: hints.channel_count ?? "",
      value: (row) => row.channel_count,
      width: "6em",
    },
  ];
}

function Table({ answer }: { answer: RawAnswer }) {
  const query = useSignal("");
  const columns = useMemo(() => columnsOf(answer.counters.hints), [answer]);
  const wanted = matcher(query.value);
  const all = answer.counters.rows;
  const rows = query.value ? all.filter((row) => wanted.test(row.counter) || wanted.test(row.pass_name)) : all;
  return (
    <div class="view">
      <div class="toolbar">
        <CounterKernelChooser />
        <FilterField
          query={query}
          placeholder="counter, pass or /regex/"
          label="Counters whose name contains"
          problem={wanted.problem}
        />
        <span>
          {exact(rows.length)} of {exact(all.length)} counters of passes, {counted(answer.dispatch_count, "dispatches")}
        </span>
        <SaveMenu name="counters" offers={[tableOffer(columns, () => rows)]} />
      </div>
      {all.length ? (
        <DataTable label="Counters" columns={columns} rows={rows} />
      ) : (
        <Nothing>Nothing to show: the file holds metrics that another tool computed, and no counters.</Nothing>
      )}
      <Definition text={answer.definition} />
    </div>
  );
}

export const rawCounters: View = {
  id: "raw_counters",
  title: "Counters",
  hint: "Every counter of every pass as it was measured: mean, smallest, largest and total over the dispatches",
  about: "counters",
  missing: () => "",
  component: RawCounters,
};
