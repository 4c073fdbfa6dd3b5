// What fits on a SIMD: how many waves each resource allows, how many were there, and the next step up.
import { exact, percent } from "../../base/format";
import { askJson } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import type { Frame } from "../../model/answers";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Chip, Definition, Section } from "../../widgets/cards";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";
import "./occupancy_limits.css";

interface KernelLine {
  kernel: number | null;
  name: string;
  vgprs: number | null;
  agprs: number | null;
  sgprs: number | null;
  lds_bytes: number | null;
  workgroup_size: number | null;
  wave_size: number | null;
  registers_from: string;
  waves_per_simd_limit: number | null;
  bound_by: string | null;
  next_waves_per_simd: number | null;
  waves_per_simd_max: number | null;
  waves_per_simd_mean: number | null;
  limit_share: number | null;
  wave_count: number | null;
  drain_share: number | null;
  all_at_once: boolean | null;
}

interface LimiterLine {
  kernel: number | null;
  limiter: string;
  waves_per_simd: number;
  used: number;
  allocated: number;
  available: number;
  unit: string;
  next_at_most: number | null;
}

interface EngineLine {
  se: number;
  simd_count: number;
  wave_count: number;
  waves_per_simd_max: number;
  waves_per_simd_mean: number;
  drain_share: number | null;
}

interface LimitsAnswer {
  definition: string;
  target: string;
  target_origin: string;
  target_is_certain: boolean;
  lds_shared_by: string;
  kernels: Frame<KernelLine>;
  limiters: Frame<LimiterLine>;
  engines: Frame<EngineLine>;
  notes: string[];
}

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
  const answer = useAnswer(() => askJson<LimitsAnswer>(current.value, "occupancy_limits"));
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

interface KernelProps {
  kernel: KernelLine;
  limiters: LimiterLine[];
  shared: string;
}

const NAMES: Record<string, string> = {
  VGPR: "Vector registers",
  LDS: "LDS",
  SGPR: "Scalar registers",
  workgroup: "Whole workgroups",
  hardware: "Hardware",
};

function Kernel({ kernel, limiters, shared }: KernelProps) {
  const most = Math.max(1, ...limiters.map((limiter) => limiter.waves_per_simd), kernel.waves_per_simd_max ?? 0);
  const { waves_per_simd_limit: limit, waves_per_simd_mean: mean, next_waves_per_simd: next } = kernel;
  return (
    <article class="limit-card" data-kernel={kernel.kernel}>
      <h3 title={kernel.name}>{kernel.name || "waves whose kernel is not known"}</h3>
      <p class="limit-words">
        {limit === null ? (
          <b>What fits is not known.</b>
        ) : (
          <>
            <strong data-field="limit">{limit}</strong> waves per SIMD fit, bound by{" "}
            <b data-field="bound_by">{kernel.bound_by}</b>.{" "}
          </>
        )}
        {mean === null ? (
          "How many were there is not known: the trace has no occupancy events."
        ) : (
          <>
            <strong data-field="mean">{mean.toFixed(2)}</strong> were there on average
            {kernel.limit_share === null ? "" : ` (${percent(kernel.limit_share)} of that)`},{" "}
            {kernel.waves_per_simd_max} at most.
          </>
        )}
        {kernel.all_at_once ? " All waves were there at once: the grid is the limit, more room would stay empty." : ""}
      </p>
      <div class="limit-grid">
        {mean === null ? null : (
          <Line
            name="Achieved"
            waves={mean}
            most={most}
            meaning="issue"
            words="mean over the SIMDs that held its waves"
          />
        )}
        {limiters.map((limiter) => (
          <Line
            key={limiter.limiter}
            id={limiter.limiter}
            name={NAMES[limiter.limiter] ?? limiter.limiter}
            waves={limiter.waves_per_simd}
            most={most}
            meaning={limiter.limiter === kernel.bound_by ? "stall" : "hidden"}
            words={uses(limiter, shared)}
            step={limiter.next_at_most}
            unit={limiter.unit}
          />
        ))}
      </div>
      {next !== null ? (
        <p data-field="next">
          Next step: <b>{next} waves per SIMD</b> need {steps(limiters)}.
        </p>
      ) : null}
      <Unknown kernel={kernel} />
    </article>
  );
}

const USER: Record<string, string> = { VGPR: "a wave", SGPR: "a wave", LDS: "a workgroup", workgroup: "a workgroup" };

function uses(limiter: LimiterLine, shared: string): string {
  if (limiter.limiter === "hardware") return `${exact(limiter.available)} wave slots`;
  const has = limiter.limiter === "VGPR" || limiter.limiter === "SGPR" ? "a SIMD" : `a ${shared}`;
  const rounded = limiter.allocated === limiter.used ? "" : ` (allocated: ${exact(limiter.allocated)})`;
  const unit = limiter.limiter === "workgroup" ? "waves" : limiter.unit;
  return `${USER[limiter.limiter] ?? "it"} takes ${exact(limiter.used)} ${unit}${rounded}; ${has} has ${exact(limiter.available)}${limiter.limiter === "workgroup" ? " per SIMD" : ""}`;
}

const STEP_UNITS: Record<string, string> = {
  VGPR: "vector registers per wave",
  SGPR: "scalar registers per wave",
  LDS: "bytes of LDS per workgroup",
  workgroup: "waves per workgroup",
};

function steps(limiters: LimiterLine[]): string {
  return limiters
    .filter((limiter) => limiter.next_at_most !== null)
    .map(
      (limiter) =>
        `at most ${exact(limiter.next_at_most)} ${STEP_UNITS[limiter.limiter] ?? limiter.unit} (now ${exact(limiter.allocated)})`,
    )
    .join(" and ");
}

interface LineProps {
  id?: string;
  name: string;
  waves: number;
  most: number;
  meaning: string;
  words: string;
  step?: number | null;
  unit?: string;
}

function Line({ id, name, waves, most, meaning, words, step, unit }: LineProps) {
  const shown = Number.isInteger(waves) ? String(waves) : waves.toFixed(2);
  return (
    <>
      <span>{name}</span>
      <PartsBar
        parts={[{ share: waves / most, colour: colourOf(meaning) }]}
        label={`${shown} of ${most} waves per SIMD`}
      />
      <span class="number" data-limiter={id}>
        {shown}
      </span>
      <span class="faint-text">
        {words}
        {step !== null && step !== undefined ? `; next step at ${exact(step)} ${unit}` : ""}
      </span>
    </>
  );
}

/** What is not known, and which file would tell it. */
function Unknown({ kernel }: { kernel: KernelLine }) {
  const missing = (
    [
      ["vector registers", kernel.vgprs],
      ["scalar registers", kernel.sgprs],
      ["LDS", kernel.lds_bytes],
      ["workgroup size", kernel.workgroup_size],
    ] as const
  )
    .filter(([, value]) => value === null)
    .map(([name]) => name);
  const fromCode = kernel.registers_from === "code";
  if (!missing.length && !fromCode) return null;
  return (
    <p class="faint-text" data-unknown>
      {missing.length ? `Not known, so not counted: ${missing.join(", ")}. ` : ""}
      {fromCode ? "Registers are those that the code names: the compiler may have allocated more. " : ""}
      The code object of the capture (<code>*_code_object_id_*.out</code>), or rocprofv3's{" "}
      <code>*_kernel_trace.csv</code> or <code>*_results.json</code> beside the trace would tell.
    </p>
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
