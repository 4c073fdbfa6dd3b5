// The instructions of one wave, and what follows from them: executions, gaps, per-row figures.
import { askTable } from "../data/ask";
import type { Numbers } from "../data/columns";
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

export async function loadWave(wave: number, document = current.value): Promise<WaveData> {
  const table = await askTable(document, "wave", { wave });
  return {
    wave,
    count: table.length,
    time: table.numbers("time_cycles"),
    stall: table.numbers("stall_cycles"),
    duration: table.numbers("duration_cycles"),
    category: table.numbers("category"),
    row: table.numbers("row"),
  };
}

/** When the wave executed a row, in order. */
export function timesOf(data: WaveData, row: number): number[] {
  return positionsOf(data, row).map((position) => data.time[position] as number);
}

/** Which of the wave's instructions are executions of a row. */
export function positionsOf(data: WaveData, row: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < data.count; i++) if (data.row[i] === row) found.push(i);
  return found;
}
