// Which wave is the target: shader engine, SIMD, slot and wave, each list made from what stands left of it.
import { useMemo } from "preact/hooks";
import { exact, percent } from "../base/format";
import { selection } from "../model/selection";
import { reveal } from "../model/timewindow";
import "./wave_picker.css";
import { selectWave, targetWave, type Wave, wavesNow } from "../model/waves";

const AT = [
  ["se", "SE", "Shader engine"],
  ["simd", "SIMD", "SIMD of the traced CU"],
  ["slot", "Slot", "Wave slot of the SIMD"],
] as const;

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
  let left = waves;
  // Its place is kept while no wave is chosen: nothing below it moves when one is.
  const unseen = { visibility: isAll ? "hidden" : undefined } as const;
  const lists = AT.map(([key, title, hint]) => {
    const here = left;
    const values = [...new Set(here.map((wave) => wave[key]))].sort((a, b) => a - b);
    left = here.filter((wave) => wave[key] === target?.[key]);
    return (
      <select
        key={key}
        title={hint}
        aria-label={hint}
        data-pick={key}
        style={key === "se" ? undefined : unseen}
        value={isAll && key === "se" ? "" : String(target?.[key])}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          pick(chosen === "" ? undefined : here.find((wave) => wave[key] === Number(chosen)));
        }}
      >
        {withAll && key === "se" ? <option value="">all waves</option> : null}
        {values.map((value) => {
          const count = here.filter((wave) => wave[key] === value).length;
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
      {lists}
      <select
        data-pick="wave"
        style={unseen}
        title="Wave: its number, duration and stall"
        aria-label="Wave"
        class="wide"
        value={String(target?.wave)}
        onChange={(event) => pick(waves.find((wave) => wave.wave === Number(event.currentTarget.value)))}
      >
        {left.map((wave) => (
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

const OUTLIER = 1.5;

function waveText(wave: Wave, median: number): string {
  const duration = durationOf(wave);
  const ratio = median ? duration / median : 1;
  const isOutlier = ratio > OUTLIER || ratio < 1 / OUTLIER;
  const remark = isOutlier ? `, ${ratio.toFixed(2)}× the median` : "";
  const stall = duration ? percent(wave.stall / duration) : "–";
  return `wave ${wave.wave}: ${exact(duration)} cycles${remark}, stall ${stall}`;
}
