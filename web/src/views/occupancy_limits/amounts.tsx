// How many waves fit with how much of a resource, as steps; the kernel stands where its own amount is.
import { exact } from "../../base/format";
import type { OccupancyLimitsAmountsRow, OccupancyLimitsLimitersRow } from "../../data/answers.gen";

interface Props {
  title: string;
  unit: string;
  /** Of one resource, the smallest amount first. */
  amounts: OccupancyLimitsAmountsRow[];
  limiter: OccupancyLimitsLimitersRow;
}

export function Amounts({ title, unit, amounts, limiter }: Props) {
  const most = amounts.at(-1)?.at_most ?? 0;
  const highest = Math.max(1, ...amounts.map((amount) => amount.waves_per_simd));
  if (!most || amounts.length < 2) return null;
  const words = amounts.map(({ at_most, waves_per_simd }) => `${waves_per_simd} up to ${exact(at_most)}`).join(", ");
  const steps = amounts.map((amount, at) => {
    const before = amounts[at - 1]?.at_most ?? 0;
    const isOwn = limiter.allocated > before && limiter.allocated <= amount.at_most;
    return { ...amount, isOwn, width: ((amount.at_most - before) / most) * 100 };
  });
  return (
    <figure class="amounts" data-amounts={limiter.limiter}>
      <figcaption>
        Waves per SIMD over {title}; now {exact(limiter.allocated)}
      </figcaption>
      <div class="amounts-steps" role="img" aria-label={`Waves per SIMD by ${unit}: ${words}`}>
        {steps.map(({ at_most, waves_per_simd: waves, isOwn, width }) => (
          <div
            key={at_most}
            class={isOwn ? "step own" : "step"}
            style={{ width: `${width}%`, height: `${(waves / highest) * 100}%` }}
            title={`${waves} waves per SIMD fit with at most ${exact(at_most)} ${unit}, all else as it is`}
            data-waves={waves}
            data-at-most={at_most}
          >
            <b style={{ "--letters": `${waves}`.length }}>{waves}</b>
            <span style={{ "--letters": exact(at_most).length }}>{exact(at_most)}</span>
          </div>
        ))}
        <i style={{ left: `${Math.min(100, (limiter.allocated / most) * 100)}%` }} />
      </div>
    </figure>
  );
}
