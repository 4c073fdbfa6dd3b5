// The instructions of one wave, and what follows from them: executions, gaps, per-row figures.
import { arrow, type Question } from "../data/ask";
import type { Columns, Numbers } from "../data/columns";
import { current } from "./document";

export interface WaveData {
  readonly wave: number;
  readonly count: number;
  /** First attempt to issue, in aligned cycles. */
  readonly time: Numbers;
  readonly stall: Numbers;
  readonly duration: Numbers;
  readonly category: Numbers;
  /** Code row; -1 = PC not known. */
  readonly row: Numbers;
}

export function waveOf(document: number, wave: number): Question<WaveData> {
  return arrow(document, "wave", { wave }).as(waveFrom, wave);
}

function waveFrom(columns: Columns, wave: number): WaveData {
  return {
    wave,
    count: columns.length,
    time: columns.numbers("time_cycles"),
    stall: columns.numbers("stall_cycles"),
    duration: columns.numbers("duration_cycles"),
    category: columns.numbers("category"),
    row: columns.numbers("row"),
  };
}

/** The same, for callers that do not show it. */
export function loadWave(wave: number, document = current.value): Promise<WaveData> {
  return waveOf(document, wave).answer();
}

/** When the wave executed a row, in order. */
export function timesOf(data: WaveData, row: number): number[] {
  return positionsOf(data, row).map((position) => data.time[position] as number);
}

/** Which of the wave's instructions are executions of a row. */
export function positionsOf(data: WaveData, row: number): number[] {
  const positions: number[] = [];
  for (let i = 0; i < data.count; i++) if (data.row[i] === row) positions.push(i);
  return positions;
}

export interface RowFigures {
  hits: Float64Array;
  latency: Float64Array;
  stall: Float64Array;
  idle: Float64Array;
}

export type Gathering = { by: "sum" } | { by: "max" } | { by: "iteration"; iteration: number };

/**
 * Hits, latency, stall and idle of every row in one wave: sums, the largest execution, or one execution. Idle is the
 * gap before an execution: from the latest end of earlier instructions, or the wave's begin. As in the analyses,
 * instructions without a known PC neither count nor end a gap.
 */
export function rowFigures(data: WaveData, begin: number, rowCount: number, how: Gathering): RowFigures {
  const make = () => new Float64Array(rowCount);
  const figures: RowFigures = { hits: make(), latency: make(), stall: make(), idle: make() };
  const seen = make();
  let freeFrom = begin;
  for (let i = 0; i < data.count; i++) {
    const row = data.row[i] as number;
    if (row < 0 || row >= rowCount) continue;
    const time = data.time[i] as number;
    const duration = data.duration[i] as number;
    const idle = Math.max(0, time - freeFrom);
    freeFrom = Math.max(freeFrom, time + duration);
    const number = seen[row] as number;
    seen[row] = number + 1;
    if (how.by === "iteration" && number !== how.iteration) continue;
    figures.hits[row] = (figures.hits[row] as number) + 1;
    const parts = [
      [figures.latency, duration],
      [figures.stall, data.stall[i] as number],
      [figures.idle, idle],
    ] as const;
    for (const [into, value] of parts) {
      into[row] = how.by === "max" ? Math.max(into[row] as number, value) : (into[row] as number) + value;
    }
  }
  return figures;
}
