// Which wave is the target: shader engine, SIMD, slot and wave, each list made from what stands left of it.
import { useMemo } from "preact/hooks";
import { exact, percent } from "../base/format";
import { selection } from "../model/selection";
import { reveal } from "../model/timewindow";
import "./wave_picker.css";
import { selectWave, targetWave, type Wave, wavesNow } from "../model/waves";

/** Where a wave ran, from the outside in: each list has the places inside of what is chosen in those before it. */
const LEVELS = [
  { key: "se", title: "SE", hint: "Shader engine" },
  { key: "simd", title: "SIMD", hint: "SIMD of the traced CU" },
  { key: "slot", title: "Slot", hint: "Wave slot of the SIMD" },
] as const;

/** The waves at the place of the target, as far as the first `depth` levels say it. */
function wavesInside(waves: Wave[], target: Wave | undefined, depth: number): Wave[] {
  return waves.filter((wave) => LEVELS.slice(0, depth).every(({ key }) => wave[key] === target?.[key]));
}

interface Props {
  /** Whether no wave in particular can be chosen. */
  withAll?: boolean;
  /** Whether one wave is shown although none was chosen: then that is the target. */
  isOne?: boolean;
  onPick?: (wave: Wave | undefined) => void;
}

export function WavePicker({ withAll = true, isOne = false, onPick }: Props) {
  const waves = wavesNow();
  const target = targetWave();
  const isAll = withAll && !isOne && selection.value.wave === undefined;
  const median = useMemo(() => medianOf(waves.map(durationOf)), [waves]);
  const pick = (wave: Wave | undefined) => {
    onPick?.(wave);
    selectWave(wave?.wave);
    if (wave) reveal(wave.begin);
  };
  if (!waves.length) return null;
  // Its place is kept while no wave is chosen: nothing below it moves when one is.
  const unseen = { visibility: isAll ? "hidden" : undefined } as const;
  const slots = LEVELS.map(({ key, title, hint }, level) => {
    const candidates = wavesInside(waves, target, level);
    const values = [...new Set(candidates.map((wave) => wave[key]))].sort((a, b) => a - b);
    return (
      <select
        key={key}
        title={hint}
        aria-label={hint}
        data-pick={key}
        style={key === "se" ? undefined : unseen}
        value={isAll && key === "se" ? "" : String(target?.[key])}
        onChange={(event) => {
          const { value } = event.currentTarget;
          pick(value === "" ? undefined : candidates.find((wave) => wave[key] === Number(value)));
        }}
      >
        {withAll && key === "se" ? <option value="">all waves</option> : null}
        {values.map((value) => {
          const count = candidates.filter((wave) => wave[key] === value).length;
          return (
            <option key={value} value={String(value)}>
              {title} {value} ({exact(count)} {count === 1 ? "wave" : "waves"})
            </option>
          );
        })}
      </select>
    );
  });
  return (
    <span class="wave-picker" title="Target wave: figures of one wave, its arrows and its executions">
      {slots}
      <select
        data-pick="wave"
        style={unseen}
        title="Wave: its number, duration and stall"
        aria-label="Wave"
        class="wide"
        value={String(target?.wave)}
        onChange={(event) => pick(waves.find((wave) => wave.wave === Number(event.currentTarget.value)))}
      >
        {wavesInside(waves, target, LEVELS.length).map((wave) => (
          <option key={wave.wave} value={String(wave.wave)}>
            {waveText(wave, median)}
          </option>
        ))}
      </select>
    </span>
  );
}

const durationOf = (wave: Wave) => wave.end - wave.begin;

function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Waves that take so many times as long as the median, or as short, say so. */
const OUTLIER = 1.5;

function waveText(wave: Wave, median: number): string {
  const duration = durationOf(wave);
  const ratio = median ? duration / median : 1;
  const isOutlier = ratio > OUTLIER || ratio < 1 / OUTLIER;
  const remark = isOutlier ? `, ${ratio.toFixed(2)}× the median` : "";
  const stall = duration ? percent(wave.stall / duration) : "–";
  return `wave ${wave.wave}: ${exact(duration)} cycles${remark}, stall ${stall}`;
}
