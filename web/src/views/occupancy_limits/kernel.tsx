// What each resource allows one kernel, what was achieved, and the next step.
import { exact, percent } from "../../base/format";
import type {
  OccupancyLimitsAmountsRow,
  OccupancyLimitsKernelsRow,
  OccupancyLimitsLimitersRow,
} from "../../data/answers.gen";
import { colourOf } from "../../draw/palette";
import { PartsBar } from "../../widgets/bars";
import { Amounts } from "./amounts";

interface KernelProps {
  /** Its limiters and amounts; `shared` is what shares LDS: a CU or a WGP. */
  kernel: OccupancyLimitsKernelsRow;
  limiters: OccupancyLimitsLimitersRow[];
  amounts: OccupancyLimitsAmountsRow[];
  shared: string;
}

/** A resource that limits how many waves fit on a SIMD, in words. */
interface Resource {
  name: string;
  /** Who takes of it: a wave or a workgroup. */
  user?: string;
  /** What the next step up is counted in; absent = the unit of the answer. */
  stepUnit?: string;
  /** Title and unit of the picture of waves over amounts; absent = the resource has none. */
  amounts?: { title: string; unit: string };
}

const RESOURCES: Record<string, Resource> = {
  VGPR: {
    name: "Vector registers",
    user: "a wave",
    stepUnit: "vector registers per wave",
    amounts: { title: "vector registers of a wave", unit: "vector registers" },
  },
  LDS: {
    name: "LDS",
    user: "a workgroup",
    stepUnit: "bytes of LDS per workgroup",
    amounts: { title: "LDS of a workgroup", unit: "bytes of LDS" },
  },
  SGPR: { name: "Scalar registers", user: "a wave", stepUnit: "scalar registers per wave" },
  workgroup: { name: "Whole workgroups", user: "a workgroup", stepUnit: "waves per workgroup" },
  hardware: { name: "Hardware" },
};

export function Kernel({ kernel, limiters, amounts, shared }: KernelProps) {
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
          "How many were resident is not known: the trace has no occupancy events."
        ) : (
          <>
            <strong data-field="mean">{mean.toFixed(2)}</strong> were resident on average
            {kernel.limit_share === null ? "" : ` (${percent(kernel.limit_share)} of that)`},{" "}
            {kernel.waves_per_simd_max} at most.
          </>
        )}
        {kernel.all_at_once
          ? " All waves were resident at once: the grid is the limit, more room would stay unused."
          : ""}
      </p>
      <div class="limit-grid">
        {mean === null ? null : (
          <Line
            name="Achieved"
            waves={mean}
            most={most}
            meaning="share"
            words="mean over the SIMDs that held its waves"
          />
        )}
        {limiters.map((limiter) => (
          <Line
            key={limiter.limiter}
            id={limiter.limiter}
            name={RESOURCES[limiter.limiter]?.name ?? limiter.limiter}
            waves={limiter.waves_per_simd}
            most={most}
            meaning={limiter.limiter === kernel.bound_by ? "stall" : "hidden"}
            words={takenInWords(limiter, shared)}
            step={limiter.next_at_most}
            unit={limiter.unit}
          />
        ))}
      </div>
      {next !== null ? (
        <p data-field="next">
          Next step: <b>{next} waves per SIMD</b> need {nextSteps(limiters)}.
        </p>
      ) : null}
      <div class="amounts-row">
        {limiters.map((limiter) => {
          const { title, unit } = RESOURCES[limiter.limiter]?.amounts ?? { title: "", unit: "" };
          const ofLimiter = amounts.filter((amount) => amount.limiter === limiter.limiter);
          return ofLimiter.length ? (
            <Amounts key={limiter.limiter} {...{ title, unit, limiter }} amounts={ofLimiter} />
          ) : null;
        })}
      </div>
      <Unknown kernel={kernel} />
    </article>
  );
}

/** What a kernel takes of a resource, and of how much; `shared` is what shares LDS. */
function takenInWords(limiter: OccupancyLimitsLimitersRow, shared: string): string {
  const { limiter: resource, used, allocated, available } = limiter;
  if (resource === "hardware") return `${exact(available)} wave slots`;
  const user = RESOURCES[resource]?.user ?? "it";
  const rounded = allocated === used ? "" : ` (allocated: ${exact(allocated)})`;
  const isWorkgroup = resource === "workgroup";
  const taken = `${user} takes ${exact(used)} ${isWorkgroup ? "waves" : limiter.unit}${rounded}`;
  const owner = resource === "VGPR" || resource === "SGPR" ? "a SIMD" : `a ${shared}`;
  return `${taken}; ${owner} has ${exact(available)}${isWorkgroup ? " per SIMD" : ""}`;
}

/** What would have to be saved for the next step up; resources that allow it already are not named. */
function nextSteps(limiters: OccupancyLimitsLimitersRow[]): string {
  return limiters
    .filter((limiter) => limiter.next_at_most !== null)
    .map(({ limiter: resource, next_at_most: most, unit, allocated }) => {
      const stepUnit = RESOURCES[resource]?.stepUnit ?? unit;
      return `at most ${exact(most)} ${stepUnit} (now ${exact(allocated)})`;
    })
    .join(" and ");
}

interface LineProps {
  /** The resource; absent = the line is what was achieved. */
  id?: string;
  name: string;
  waves: number;
  /** Waves that fill the bar. */
  most: number;
  /** Meaning of the colour in the palette. */
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
function Unknown({ kernel }: { kernel: OccupancyLimitsKernelsRow }) {
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
