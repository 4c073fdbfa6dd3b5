// Changes of the metrics that views of counters show: of the chosen kernel as the comparison says, with its noise; of all
// dispatches, and of amounts per wave, cycle or second, the answers of both captures to one question.
import type { CounterPanelsRow } from "../data/answers.gen";
import { changesAgainst } from "./baseline";
import { type Change, changeOf, metricChange } from "./changes";
import { chosenKernel, counterPanels, normalization, ofChosenNormalized, type PanelsAnswer } from "./counters";
import { kind } from "./document";
import { answering } from "./loaded";

const keyOf = (row: Pick<CounterPanelsRow, "metric_id" | "series">) => `${row.metric_id}/${row.series}`;

function averages({ rows }: PanelsAnswer): Map<string, number | null> {
  return new Map(rows.rows.map((row) => [keyOf(row), row.average]));
}

/** Kernels of two captures have different ranks: this is only asked about all of them. */
const ofAll = answering(() => {
  const base = changesAgainst.value;
  if (base === null || kind.value !== "counters" || chosenKernel()) return null;
  return counterPanels(base, ofChosenNormalized()).as(averages);
});

export function metricChangeOf(row: CounterPanelsRow): Change | null {
  const kernel = chosenKernel();
  if (kernel) return normalization() === "kernel" ? metricChange(kernel.kernel, row.metric_id, row.series) : null;
  return ofAll.value.state === "ready" ? changeOf(ofAll.value.value.get(keyOf(row)), row.average) : null;
}
