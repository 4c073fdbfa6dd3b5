// The selected metric in full, for reading and copying.
import { measured } from "../../base/format";
import type { CounterPanelsRow } from "../../data/answers.gen";
import type { Metric } from "../../model/counters";
import { select } from "../../model/selection";

export function Explanation({ metric, row }: { metric: Metric | undefined; row: CounterPanelsRow | undefined }) {
  if (!metric) return null;
  return (
    <aside class="explanation" aria-label="The selected metric" data-explained={metric.id}>
      <button type="button" class="quiet close" aria-label="Close" onClick={() => select({ metric: undefined })}>
        ×
      </button>
      <p>
        <b>
          {metric.id} {metric.name}
        </b>{" "}
        {row && row.average !== null ? `${measured(row.average)} ${row.unit}` : metric.unit}
        {row && row.average === null && row.reason ? <span class="metric-reason"> – {row.reason}</span> : null}
      </p>
      {metric.about ? <p>{metric.about}</p> : null}
      <p>{metric.formula === null ? "This GPU has no counters for it." : <code>= {metric.formula}</code>}</p>
      {metric.peak ? (
        <p>
          <code>peak = {metric.peak}</code>
        </p>
      ) : null}
      <p class="faint-text">
        {[metric.level ? `measured in the pass of ${metric.level}` : "", metric.source, metric.defect]
          .filter(Boolean)
          .join(" · ")}
      </p>
    </aside>
  );
}
