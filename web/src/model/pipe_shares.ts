// How busy pipes are over time: curves that are 1 while a pipe of a SIMD issues, and their shares of any interval.
import { json } from "../data/ask";
import type { Bins, CurveSeries, CurveSet } from "./curves";
import type { Range } from "./selection";

/** What stands for a pipe in the curve of a SIMD that is 1 while no pipe issues, and in that while a traced wave is there. */
export const NO_ISSUE = "no issue";
const RESIDENT = "resident";

interface PipeKeys {
  se: number;
  simd: number;
  /** A pipe, or NO_ISSUE, or RESIDENT. */
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

/** Curves that are 1 while a pipe issues. */
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

/** The cycles of a range that shares are of. */
interface Wholes {
  /** Of the traced spans of SIMDs. */
  span: number;
  /** In which a traced wave is on them. */
  resident: number;
}

/**
 * Shares as the analysis of the whole trace defines them: of pipes, of the traced span of the SIMDs in which it issues
 * or others do; of no issue, of the cycles with a traced wave. Those of a range come from what is loaded of it. `busyOf`
 * has the cycles of pipes that are busy for longer than they issue.
 */
export function sharesIn(set: PipeCurves, parts: Bins[], range: Range, busyOf: Map<string, number>): PipeShare[] {
  const cycles = cyclesOf(set, parts, range);
  const wholesOfEngines = wholesIn(set, cycles, range);
  const pipes = new Set(set.series.map(({ keys }) => keys.pipe));
  pipes.delete(RESIDENT);
  return [...pipes].map((pipe) => {
    const base = pipe === NO_ISSUE ? "resident" : "span";
    const issuing = new Map<number, number>(); // by engine
    set.series.forEach(({ keys }, series) => {
      if (keys.pipe === pipe) issuing.set(keys.se, (issuing.get(keys.se) ?? 0) + (cycles[series] as number));
    });
    const sum = sumOf(issuing.values());
    const whole = sumOf([...wholesOfEngines.values()].map((wholes) => wholes[base]));
    return {
      pipe,
      cycles: Math.round(sum),
      share: ratio(sum, whole),
      busy: pipe === NO_ISSUE ? null : ratio(busyOf.get(pipe) ?? sum, whole),
      ofEngines: new Map([...wholesOfEngines].map(([se, wholes]) => [se, ratio(issuing.get(se) ?? 0, wholes[base])])),
    };
  });
}

/** By engine. Every SIMD has one curve of RESIDENT, which tells its span too. */
function wholesIn(set: PipeCurves, cycles: Float64Array, range: Range): Map<number, Wholes> {
  const wholes = new Map<number, Wholes>();
  set.series.forEach(({ keys }, series) => {
    if (keys.pipe !== RESIDENT) return;
    const { span, resident } = wholes.get(keys.se) ?? { span: 0, resident: 0 };
    const ownSpan = Math.min(range.end, keys.end_cycles) - Math.max(range.begin, keys.start_cycles);
    wholes.set(keys.se, { span: span + Math.max(0, ownSpan), resident: resident + (cycles[series] as number) });
  });
  return wholes;
}

/** null = there is nothing to share. */
const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);

const sumOf = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
