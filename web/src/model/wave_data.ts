// The instructions of one wave, and what follows from them: executions, gaps, per-row figures.
import { arrow, type Question } from "../data/ask";
import type { Columns, Numbers } from "../data/columns";
import { current } from "./document";
import type { Range } from "./selection";

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

/** Category of messages; the arrival at a gfx9 `s_barrier` is recorded as one. */
const MESSAGE = 11;

/**
 * Whether a record belongs to the execution before it: the release of a gfx9 `s_barrier` after its arrival. All that
 * counts executions counts the two as one, by the rule of `model/executions.py`.
 */
function isContinuation({ row, category }: WaveData, position: number): boolean {
  const before = position - 1;
  if (before < 0 || (row[position] as number) < 0 || row[position] !== row[before]) return false;
  return category[before] === MESSAGE && category[position] !== MESSAGE;
}

/** When the wave executed a row, in order. */
export function timesOf(data: WaveData, row: number): number[] {
  return positionsOf(data, row).map((position) => data.time[position] as number);
}

/** With which of the wave's records each execution of a row begins. */
export function positionsOf(data: WaveData, row: number): number[] {
  const positions: number[] = [];
  for (let i = 0; i < data.count; i++) if (data.row[i] === row && !isContinuation(data, i)) positions.push(i);
  return positions;
}

/** Which execution of its row (from 0) a record of the wave belongs to. */
export function iterationOf(data: WaveData, position: number): number {
  const row = data.row[position] as number;
  return positionsOf(data, row).findLastIndex((begin) => begin <= position);
}

/** From the first attempt to issue to the end of the execution that begins with a record. */
export function intervalOf(data: WaveData, position: number): Range {
  const begin = data.time[position] as number;
  const last = position + 1 < data.count && isContinuation(data, position + 1) ? position + 1 : position;
  const length = Math.max(data.stall[last] as number, data.duration[last] as number);
  return { begin, end: (data.time[last] as number) + length };
}

/** The intervals of all executions of the rows that fulfil a condition. */
export function intervalsWhere(data: WaveData, test: (row: number) => boolean): Range[] {
  const intervals: Range[] = [];
  for (let i = 0; i < data.count; i++) {
    if (test(data.row[i] as number) && !isContinuation(data, i)) intervals.push(intervalOf(data, i));
  }
  return intervals;
}

export interface RowFigures {
  hits: Float64Array;
  latency: Float64Array;
  stall: Float64Array;
  idle: Float64Array;
}

/** How the records of a row become one figure. */
export type Gathering = { by: "sum" } | { by: "max" } | { by: "iteration"; iteration: number };

/**
 * Hits, latency, stall and idle of every row in one wave: sums, the largest record, or the records of one execution.
 * Idle is the gap before a record: from the latest end of earlier instructions, or the wave's begin. As in the
 * analyses, instructions without a known PC neither count nor end a gap.
 */
export function rowFigures(data: WaveData, begin: number, rowCount: number, how: Gathering): RowFigures {
  const make = () => new Float64Array(rowCount);
  const figures: RowFigures = { hits: make(), latency: make(), stall: make(), idle: make() };
  const executions = make(); // of each row so far
  let freeFrom = begin;
  for (let i = 0; i < data.count; i++) {
    const row = data.row[i] as number;
    if (row < 0 || row >= rowCount) continue;
    const time = data.time[i] as number;
    const duration = data.duration[i] as number;
    const idle = Math.max(0, time - freeFrom);
    freeFrom = Math.max(freeFrom, time + duration);
    const isNew = !isContinuation(data, i);
    executions[row] = (executions[row] as number) + Number(isNew);
    if (how.by === "iteration" && executions[row] !== how.iteration + 1) continue;
    figures.hits[row] = (figures.hits[row] as number) + Number(isNew);
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
