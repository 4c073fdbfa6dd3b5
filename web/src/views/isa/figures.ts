// The numbers of the listing in its latency mode.
import type { Costs } from "../../model/code";
import { type RowFigures, rowFigures, type WaveData } from "../../model/wave_data";
import type { LatencyMode } from "./state";

/** Cycles that nothing hid, part by part, and what was hidden. */
export interface Exposure {
  exposed: Float64Array;
  idle: Float64Array;
  stall: Float64Array;
  issue: Float64Array;
  hidden: Float64Array;
}

export interface Figures extends RowFigures {
  /** null = not known in this mode. */
  exposure: Exposure | null;
}

interface Given {
  /** Of all waves, or of all of them in an interval. */
  costs: Costs | null;
  /** Of the target wave: what was hidden; null = not known. */
  waveCosts: Costs | null;
  wave: WaveData | null;
  waveBegin: number;
  iteration: number;
  rowCount: number;
}

/** The figures of a mode; null while what they are made of is on its way. */
export function figuresFor(mode: LatencyMode, given: Given): Figures | null {
  const { costs, wave, waveBegin, iteration, rowCount, waveCosts } = given;
  if (mode === "sum_all" || mode === "mean_all") {
    if (!costs) return null;
    const sums: Figures = { ...costs, exposure: exposureOf(costs) };
    return mode === "sum_all" ? sums : perExecution(sums);
  }
  if (!wave) return null;
  if (mode === "iteration") {
    return { ...rowFigures(wave, waveBegin, rowCount, { by: "iteration", iteration }), exposure: null };
  }
  if (mode === "max_wave") return { ...rowFigures(wave, waveBegin, rowCount, { by: "max" }), exposure: null };
  const sums: Figures = {
    ...rowFigures(wave, waveBegin, rowCount, { by: "sum" }),
    exposure: waveCosts && exposureOf(waveCosts),
  };
  return mode === "sum_wave" ? sums : perExecution(sums);
}

function exposureOf(costs: Costs): Exposure {
  return {
    exposed: costs.exposed,
    idle: costs.exposedIdle,
    stall: costs.exposedStall,
    issue: costs.exposedIssue,
    hidden: costs.hidden,
  };
}

function perExecution(sums: Figures): Figures {
  const mean = (values: Float64Array) =>
    values.map((value, row) => (sums.hits[row] ? Math.round(value / (sums.hits[row] as number)) : 0));
  const { exposure } = sums;
  return {
    hits: sums.hits,
    latency: mean(sums.latency),
    stall: mean(sums.stall),
    idle: mean(sums.idle),
    exposure: exposure && {
      exposed: mean(exposure.exposed),
      idle: mean(exposure.idle),
      stall: mean(exposure.stall),
      issue: mean(exposure.issue),
      hidden: mean(exposure.hidden),
    },
  };
}

/** How hot each row is, from 0 to 1: its share of the largest row, on a scale that lets small ones be seen. */
export function heatOf(weights: ArrayLike<number>): Float64Array {
  let largest = 0;
  for (let i = 0; i < weights.length; i++) largest = Math.max(largest, weights[i] as number);
  return Float64Array.from({ length: weights.length }, (_, i) =>
    largest ? Math.sqrt((weights[i] as number) / largest) : 0,
  );
}
