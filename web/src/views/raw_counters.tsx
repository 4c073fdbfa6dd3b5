// Counters as they were measured, before any formula.
import { useSignal } from "@preact/signals";
import { counted, exact } from "../base/format";
import { matcher } from "../base/matcher";
import { COUNTER_RAW_COUNTERS, type CounterRawAnswer, type CounterRawCountersRow } from "../data/answers.gen";
import { json } from "../data/ask";
import { ofChosen } from "../model/counters";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { CounterKernelChooser } from "../widgets/counter_choice";
import { DataTable, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { FilterField } from "../widgets/filter_field";
import { SaveMenu } from "../widgets/saving";

const COLUMNS = figureColumns<CounterRawCountersRow>(COUNTER_RAW_COUNTERS, [
  ["counter", "Counter", "text", "minmax(16em, 2fr)"],
  ["pass_name", "Pass", "text"],
  ["mean", "Mean", "measured", "9em"],
  ["minimum", "Min", "measured", "9em"],
  ["maximum", "Max", "measured", "9em"],
  ["total", "Total", "measured", "9em"],
  ["dispatch_count"],
  ["channel_count"],
]);

function RawCounters() {
  const answer = useAnswer(json<CounterRawAnswer>(current.value, "counter_raw", ofChosen()));
  return (
    <Answered answer={answer} choose={<CounterKernelChooser />}>
      {(value) => <Table answer={value} />}
    </Answered>
  );
}

function Table({ answer }: { answer: CounterRawAnswer }) {
  const query = useSignal("");
  const search = matcher(query.value);
  const all = answer.counters.rows;
  const rows = query.value ? all.filter((row) => search.test(row.counter) || search.test(row.pass_name)) : all;
  return (
    <div class="view">
      <div class="toolbar">
        <CounterKernelChooser />
        <FilterField
          query={query}
          placeholder="counter, pass or /regex/"
          label="Counters whose name contains"
          problem={search.problem}
        />
        <span>
          {exact(rows.length)} of {exact(all.length)} counters of passes, {counted(answer.dispatch_count, "dispatches")}
        </span>
        <SaveMenu name="counters" offers={[tableOffer(COLUMNS, () => rows)]} />
      </div>
      {all.length ? (
        <DataTable label="Counters" columns={COLUMNS} rows={rows} />
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
