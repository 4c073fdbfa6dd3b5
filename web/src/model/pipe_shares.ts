// How busy pipes are over time: curves that are 1 while a pipe of a SIMD issues, and their shares of any interval.
import { json } from "../data/ask";
import type { Bins, CurveSeries, CurveSet } from "./curves";
import type { Range } from "./selection";

/** The curve of a SIMD while no pipe issues, and while a traced wave is there. */
export const NO_ISSUE = "no issue";
const RESIDENT = "resident";

interface PipeKeys {
  se: number;
  simd: number;
  /** Or NO_ISSUE, or RESIDENT. */
  pipe: string;
  /** The traced span of its SIMD. */
  start_cycles: number;
  end_cycles: number;
}

export interface PipeCurves extends CurveSet {
  series: (CurveSeries & { keys: PipeKeys & CurveSeries["keys"] })[];
}

/** Pipes that are busy for longer than they issue: curves that are 1 while they are. */
export const busyPipeCurves = (document: number) => json<PipeCurves>(document, "busy_pipe_curves");

export const pipeCurves = (document: number) => json<PipeCurves>(document, "pipe_curves");

/** A pipe, or no issue, in an interval: cycles summed over SIMDs, and their share; null = no cycles to share. */
export interface PipeShare {
  pipe: string;
  cycles: number;
  share: number | null;
  /** Share in which instructions occupy the pipe, for all their passes; null = not known for a part of the time. */
  busy: number | null;
  ofEngines: Map<number, number | null>;
}

/** For how long each curve is 1 within a range. */
export function cyclesOf(set: PipeCurves, parts: Bins[], range: Range): Float64Array {
  const cycles = new Float64Array(set.series.length);
  for (const { tile, begin, width, first, last } of parts) {
    for (let i = first; i < last; i++) {
      const from = Math.max(begin + i * width, range.begin);
      const length = Math.min(begin + (i + 1) * width, range.end, set.end) - from;
      if (length <= 0) continue;
      for (let s = 0; s < cycles.length; s++) {
        cycles[s] = (cycles[s] as number) + (tile.mean[s * tile.count + i] as number) * length;
      }
    }
  }
  return cycles;
}

/** Pipe -> cycles in which it is busy within a range, over all SIMDs; pipes that are busy while they issue only are left out. */
export function busyIn(set: PipeCurves, parts: Bins[], range: Range): Map<string, number> {
  const sums = new Map<string, number>();
  cyclesOf(set, parts, range).forEach((cycles, s) => {
    const pipe = set.series[s]?.keys.pipe ?? "";
    sums.set(pipe, (sums.get(pipe) ?? 0) + cycles);
  });
  return sums;
}

/**
 * Shares as the analysis of the whole trace defines them: of pipes, of the traced span of the SIMDs in which it issues
 * or others do; of no issue, of the cycles with a traced wave. Those of a range come from what is at hand of it.
 */
export function sharesIn(set: PipeCurves, parts: Bins[], range: Range, busyOf: Map<string, number>): PipeShare[] {
  const cycles = cyclesOf(set, parts, range);
  const wholes = new Map<number, { span: number; resident: number }>(); // per engine
  set.series.forEach(({ keys }, s) => {
    if (keys.pipe !== RESIDENT) return;
    const whole = wholes.get(keys.se) ?? { span: 0, resident: 0 };
    const span = Math.min(range.end, keys.end_cycles) - Math.max(range.begin, keys.start_cycles);
    wholes.set(keys.se, {
      span: whole.span + Math.max(0, span),
      resident: whole.resident + (cycles[s] as number),
    });
  });
  const pipes = [...new Set(set.series.map(({ keys }) => keys.pipe))].filter((pipe) => pipe !== RESIDENT);
  const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);
  return pipes.map((pipe) => {
    const of = pipe === NO_ISSUE ? "resident" : "span";
    const busy = new Map<number, number>();
    set.series.forEach(({ keys }, s) => {
      if (keys.pipe === pipe) busy.set(keys.se, (busy.get(keys.se) ?? 0) + (cycles[s] as number));
    });
    const sum = [...busy.values()].reduce((a, b) => a + b, 0);
    const whole = [...wholes.values()].reduce((a, b) => a + b[of], 0);
    return {
      pipe,
      cycles: Math.round(sum),
      share: ratio(sum, whole),
      busy: pipe === NO_ISSUE ? null : ratio(busyOf.get(pipe) ?? sum, whole),
      ofEngines: new Map([...wholes].map(([se, one]) => [se, ratio(busy.get(se) ?? 0, one[of])])),
    };
  });
}
