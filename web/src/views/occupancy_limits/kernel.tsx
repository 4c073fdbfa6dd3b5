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
  kernel: OccupancyLimitsKernelsRow;
  limiters: OccupancyLimitsLimitersRow[];
  amounts: OccupancyLimitsAmountsRow[];
  shared: string;
}

const NAMES: Record<string, string> = {
  VGPR: "Vector registers",
  LDS: "LDS",
  SGPR: "Scalar registers",
  workgroup: "Whole workgroups",
  hardware: "Hardware",
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
      <div class="amounts-row">
        {limiters.map((limiter) => {
          const [title, unit] = AMOUNTS[limiter.limiter] ?? ["", ""];
          const own = amounts.filter((amount) => amount.limiter === limiter.limiter);
          return own.length ? <Amounts key={limiter.limiter} {...{ title, unit, limiter }} amounts={own} /> : null;
        })}
      </div>
      <Unknown kernel={kernel} />
    </article>
  );
}

const AMOUNTS: Record<string, [title: string, unit: string]> = {
  VGPR: ["vector registers of a wave", "vector registers"],
  LDS: ["LDS of a workgroup", "bytes of LDS"],
};

const USER: Record<string, string> = { VGPR: "a wave", SGPR: "a wave", LDS: "a workgroup", workgroup: "a workgroup" };

function uses(limiter: OccupancyLimitsLimitersRow, shared: string): string {
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

function steps(limiters: OccupancyLimitsLimitersRow[]): string {
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
