// What fits on a SIMD: how many waves each resource allows, how many were there, and the next step up.
import {
  ASKED,
  OCCUPANCY_LIMITS_ENGINES,
  type OccupancyLimitsAnswer,
  type OccupancyLimitsEnginesRow,
  type OccupancyLimitsLimitersRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Chip, Definition, Section } from "../../widgets/cards";
import { tableOffer } from "../../widgets/data_table";
import { figureColumns, plainColumns } from "../../widgets/figure_columns";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";
import { Kernel } from "./kernel";
import "./occupancy_limits.css";

const ENGINES = figureColumns<OccupancyLimitsEnginesRow>(OCCUPANCY_LIMITS_ENGINES, [
  ["se"],
  ["wave_count"],
  ["simd_count"],
  ["waves_per_simd_mean", "Mean"],
  ["waves_per_simd_max", "Most"],
  ["drain_share", "Draining"],
]);

const CSV = plainColumns<OccupancyLimitsLimitersRow>([
  "kernel",
  "limiter",
  "waves_per_simd",
  "used",
  "allocated",
  "available",
  "unit",
  "next_at_most",
]);

function OccupancyLimits() {
  const answer = useAnswer(json<OccupancyLimitsAnswer>(current.value, "occupancy_limits"));
  return <Answered answer={answer}>{(value) => <Page answer={value} />}</Answered>;
}

function Page({ answer }: { answer: OccupancyLimitsAnswer }) {
  const chosen = selection.value.kernel;
  const kernels = [...answer.kernels.rows].sort((a, b) => Number(b.kernel === chosen) - Number(a.kernel === chosen));
  return (
    <div class="view">
      <div class="toolbar">
        <span>
          Waves that fit on a SIMD of <b>{answer.target}</b>
        </span>
        <Chip tone={answer.target_is_certain ? "good" : "bad"} title="Where the GPU is known from">
          {answer.target_origin}
        </Chip>
        <SaveMenu name="occupancy_limits" offers={[tableOffer(CSV, () => answer.limiters.rows)]} />
      </div>
      <div class="scroll">
        {kernels.map((kernel) => (
          <Kernel
            key={kernel.kernel}
            kernel={kernel}
            limiters={answer.limiters.rows.filter((limiter) => limiter.kernel === kernel.kernel)}
            amounts={answer.amounts.rows.filter((amount) => amount.kernel === kernel.kernel)}
            shared={answer.lds_shared_by}
          />
        ))}
        {kernels.length === 0 ? <Nothing>No wave of any kernel was seen in this trace.</Nothing> : null}
        {answer.notes.length ? (
          <Section title="Caveats">
            <ul class="notes">
              {answer.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          </Section>
        ) : null}
        {answer.engines.rows.length ? (
          <Section title="Achieved, by shader engine">
            <SmallTable
              label="Achieved"
              columns={ENGINES}
              rows={answer.engines.rows}
              total={answer.engines.row_count}
            />
          </Section>
        ) : null}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

export const occupancyLimits: View = {
  id: "occupancy_limits",
  title: "Occupancy limits",
  hint: ASKED.occupancy_limits,
  about: "trace",
  time: "whole",
  missing: () => "",
  component: OccupancyLimits,
};
