// How near each unit of the GPU is to its peak.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted, exact, measured } from "../../base/format";
import { ASKED, type CounterPanelsRow } from "../../data/answers.gen";
import { colourOf } from "../../draw/palette";
import {
  counterMetrics,
  counterPanels,
  explained,
  type Metric,
  metricsById,
  ofChosenNormalized,
  type PanelsAnswer,
} from "../../model/counters";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { metricChangeOf } from "../../model/metric_changes";
import { select, selection } from "../../model/selection";
import { frontView, type View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Definition } from "../../widgets/cards";
import { Caveats } from "../../widgets/caveats";
import { Delta } from "../../widgets/changes";
import { Check } from "../../widgets/check";
import { CounterKernelChooser, NormalizationChooser } from "../../widgets/counter_choice";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { grouped } from "./groups";
import "./speed_of_light.css";

/** Ids of the tables of speed of light: those of panel 2. */
const TABLE = /^2\./;
/** Percent of a peak beyond which it is marked, `_OVER` of analysis/counters/engine/metric_caveats.py: less is rounding. */
const BEYOND_PEAK = 100.5;

const COLUMNS: Column<CounterPanelsRow>[] = [
  { name: "metric_id", title: "Id", value: (row) => row.metric_id, width: "" },
  { name: "name", title: "Metric", value: (row) => row.name, width: "" },
  { name: "average", title: "Value", value: (row) => row.average, width: "" },
  { name: "unit", title: "Unit", value: (row) => row.unit, width: "" },
  { name: "peak", title: "Peak", value: (row) => row.peak, width: "" },
  { name: "peak_share", title: "% of peak", value: (row) => row.peak_share, width: "" },
  { name: "reason", title: "Reason", value: (row) => row.reason, width: "" },
];

function SpeedOfLight() {
  const answer = useAnswer(counterPanels(current.value, ofChosenNormalized()));
  const metrics = useAnswer(counterMetrics(current.value).as(metricsById));
  const declared = metrics.value.state === "ready" ? metrics.value.value : new Map<string, Metric>();
  return (
    <Answered
      answer={answer}
      choose={
        <>
          <CounterKernelChooser />
          <NormalizationChooser />
        </>
      }
    >
      {(value) => <Bars answer={value} declared={declared} />}
    </Answered>
  );
}

function Bars({ answer, declared }: { answer: PanelsAnswer; declared: Map<string, Metric> }) {
  const isSorted = useSignal(false);
  const rows = useMemo(() => answer.rows.rows.filter((row) => TABLE.test(row.table_id)), [answer]);
  const groups = grouped(rows, isSorted.value);
  const unknown = rows.filter((row) => row.average === null).length;
  return (
    <div class="view">
      <div class="toolbar">
        <CounterKernelChooser />
        <NormalizationChooser />
        <Check
          isOn={isSorted.value}
          onChange={(isOn) => (isSorted.value = isOn)}
          hint="Otherwise in the order of the tables"
        >
          nearest to the peak first
        </Check>
        <span>{counted(answer.dispatch_count, "dispatches")}</span>
        {unknown ? (
          <span title="Each row says why">
            {exact(unknown)} of {exact(rows.length)} not known
          </span>
        ) : null}
        <SaveMenu name="speed-of-light" offers={[tableOffer(COLUMNS, () => rows)]} />
      </div>
      <div class="scroll sol">
        <Caveats caveats={answer.caveats} />
        {rows.length ? null : <Nothing>Nothing to show: no speed-of-light metrics are known for this GPU.</Nothing>}
        {groups.map(({ group, rows: ofGroup }) => (
          <section key={group} class="sol-group" data-group={group}>
            <h3>{group}</h3>
            {ofGroup.map((row) => (
              <Unit key={row.metric_id} row={row} metric={declared.get(row.metric_id)} />
            ))}
          </section>
        ))}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

function Unit({ row, metric }: { row: CounterPanelsRow; metric: Metric | undefined }) {
  const { average, peak, peak_share: share, unit, reason } = row;
  return (
    <button
      type="button"
      class={`sol-row${selection.value.metric === row.metric_id ? " selected" : ""}`}
      data-metric={row.metric_id}
      title={explained(metric)}
      onClick={() => {
        select({ metric: row.metric_id });
        frontView("panels");
      }}
    >
      <span class="sol-name">{row.name}</span>
      {average === null ? (
        <span class="sol-reason">{reason || "not known"}</span>
      ) : (
        <>
          <span class="sol-bar">
            {share === null ? null : (
              <PartsBar
                tall
                parts={[{ share: share / 100, colour: colourOf(share > BEYOND_PEAK ? "worse" : "hidden") }]}
                label={`${row.name}: ${measured(share)} % of its peak`}
              />
            )}
          </span>
          <span class="sol-share" data-field="peak_share">
            {share === null ? "" : `${share.toFixed(1)} %`}
          </span>
          <span class="sol-value" data-field="average">
            {measured(average)}
          </span>
          <span class="sol-peak">
            {peak === null ? "" : "of "}
            <span data-field="peak">{measured(peak)}</span> {unit}
            {peak === null ? ", no peak" : ""}
          </span>
          <Delta change={metricChangeOf(row)} format="measured" isBrief />
        </>
      )}
    </button>
  );
}

export const speedOfLight: View = {
  id: "speed_of_light",
  title: "Speed of light",
  hint: ASKED.speed_of_light,
  about: "counters",
  missing: () => "",
  component: SpeedOfLight,
};
