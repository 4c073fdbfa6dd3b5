// What fits on a SIMD: how many waves each resource allows, how many were there, and the next step up.
import { percent } from "../../base/format";
import { json } from "../../data/ask";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Chip, Definition, Section } from "../../widgets/cards";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";
import { Kernel } from "./kernel";
import type { EngineLine, LimiterLine, LimitsAnswer } from "./shapes";
import "./occupancy_limits.css";

const ENGINES: Column<EngineLine>[] = [
  { name: "se", title: "SE", hint: "Shader engine", value: (e) => e.se, width: "" },
  { name: "wave_count", title: "Waves", hint: "Waves on all its CUs", value: (e) => e.wave_count, width: "" },
  { name: "simd_count", title: "SIMDs", hint: "SIMDs that held waves", value: (e) => e.simd_count, width: "" },
  {
    name: "waves_per_simd_mean",
    title: "Mean",
    hint: "Wave cycles / time and SIMDs that held waves",
    value: (e) => e.waves_per_simd_mean,
    show: (e) => e.waves_per_simd_mean.toFixed(2),
    width: "",
  },
  {
    name: "waves_per_simd_max",
    title: "Most",
    hint: "Most waves on one SIMD at a time",
    value: (e) => e.waves_per_simd_max,
    width: "",
  },
  {
    name: "drain_share",
    title: "Draining",
    hint: "Share of the time after the last wave started",
    value: (e) => e.drain_share,
    show: (e) => percent(e.drain_share),
    width: "",
  },
];

const CSV: Column<LimiterLine>[] = (
  ["kernel", "limiter", "waves_per_simd", "used", "allocated", "available", "unit", "next_at_most"] as const
).map((name) => ({ name, title: name, value: (row) => row[name], width: "" }));

function OccupancyLimits() {
  const answer = useAnswer(json<LimitsAnswer>(current.value, "occupancy_limits"));
  return <Answered answer={answer}>{(value) => <Page answer={value} />}</Answered>;
}

function Page({ answer }: { answer: LimitsAnswer }) {
  const asked = selection.value.kernel;
  const kernels = [...answer.kernels.rows].sort(
    (a, b) => Number(String(b.kernel) === asked) - Number(String(a.kernel) === asked),
  );
  return (
    <div class="view">
      <div class="toolbar">
        <span>
          Waves that fit on a SIMD of <b>{answer.target}</b>
        </span>
        <Chip tone={answer.target_is_certain ? "good" : "bad"} title="Who says which GPU it is">
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
            shared={answer.lds_shared_by}
          />
        ))}
        {kernels.length === 0 ? <Nothing>No wave of any kernel was seen in this trace.</Nothing> : null}
        {answer.notes.length ? (
          <Section title="To know before trusting it">
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
  hint: "How many waves fit on a SIMD by registers, LDS and workgroups, how many were there, and the next step up",
  about: "trace",
  missing: () => "",
  component: OccupancyLimits,
};
