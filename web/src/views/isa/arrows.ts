// Pairs of rows that hang together: a wait and what it waited for, a branch and where it led.

import { exact, short } from "../../base/format";
import type { Columns } from "../../data/columns";
import type { WaveData } from "../../model/wave_data";

export interface Arrow {
  /** Row where the arrow begins: the awaited instruction, or the branch. */
  from: number;
  /** Row with the head: the wait, or where the branch led. */
  to: number;
  /** Hardware counter of the wait; "" for branches. */
  counter: string;
  count: number;
  /** Stall of the executions that this producer ended (all waves), or in which it was awaited (one wave); NaN = none. */
  stall: number;
  distanceCycles: number;
  distanceInstructions: number;
  latency: number;
}

const column = (table: Columns, name: string) => table.numbers(name);

/** The arrows of the question `arrows`: over all waves. */
export function arrowsOfAll(table: Columns): Arrow[] {
  const counters = table.texts("counter");
  const [to, from, count] = [column(table, "wait_row"), column(table, "producer_row"), column(table, "count")];
  const stall = column(table, "stall_cycles_total");
  const cycles = column(table, "distance_cycles_mean");
  const instructions = column(table, "distance_instructions_mean");
  const latency = column(table, "latency_cycles_mean");
  return counters.map((counter, i) => ({
    from: from[i] as number,
    to: to[i] as number,
    counter,
    count: count[i] as number,
    stall: stall[i] as number,
    distanceCycles: cycles[i] as number,
    distanceInstructions: instructions[i] as number,
    latency: latency[i] as number,
  }));
}

/** The arrows of one wave, from `wave_waits` and its instructions. */
export function arrowsOfWave(waits: Columns, wave: WaveData): Arrow[] {
  const [at, row] = [column(waits, "instruction"), column(waits, "row")];
  const [producer, producerRow] = [column(waits, "producer"), column(waits, "producer_row")];
  const counters = waits.texts("counter");
  const byKey = new Map<string, Arrow>();
  for (let i = 0; i < waits.length; i++) {
    const [wait, awaited] = [at[i] as number, producer[i] as number];
    const [to, from, counter] = [row[i] as number, producerRow[i] as number, counters[i] as string];
    if (to < 0 || from < 0) continue;
    const key = `${to} ${from} ${counter}`;
    const arrow = byKey.get(key) ?? {
      from,
      to,
      counter,
      count: 0,
      stall: 0,
      distanceCycles: 0,
      distanceInstructions: 0,
      latency: 0,
    };
    const issue = (wave.time[awaited] as number) + (wave.stall[awaited] as number);
    const begin = wave.time[wait] as number;
    arrow.count += 1;
    arrow.stall += wave.stall[wait] as number;
    arrow.distanceCycles += begin - issue;
    arrow.distanceInstructions += wait - awaited;
    arrow.latency += begin + (wave.duration[wait] as number) - issue;
    byKey.set(key, arrow);
  }
  return [...byKey.values()]
    .map((arrow) => ({
      ...arrow,
      distanceCycles: arrow.distanceCycles / arrow.count,
      distanceInstructions: arrow.distanceInstructions / arrow.count,
      latency: arrow.latency / arrow.count,
    }))
    .sort((a, b) => a.to - b.to || a.from - b.from);
}

const jump = (from: number, to: number, count: number): Arrow => ({
  from,
  to,
  counter: "",
  count,
  stall: Number.NaN,
  distanceCycles: Number.NaN,
  distanceInstructions: Number.NaN,
  latency: Number.NaN,
});

/** The arrows of the question `branches`: jumps that waves took. */
export function branchesOfAll(table: Columns): Arrow[] {
  const [from, to, count] = [column(table, "from_row"), column(table, "to_row"), column(table, "count")];
  return Array.from(from, (row, i) => jump(row, to[i] as number, count[i] as number));
}

/** The jumps of one wave: pairs of the branches that any wave took which follow each other in this one. */
export function branchesOfWave(all: Arrow[], wave: WaveData): Arrow[] {
  const counts = new Map(all.map((arrow) => [`${arrow.from} ${arrow.to}`, 0]));
  for (let i = 1; i < wave.count; i++) {
    const key = `${wave.row[i - 1]} ${wave.row[i]}`;
    const arrow = counts.get(key);
    if (arrow !== undefined) counts.set(key, arrow + 1);
  }
  return all.map(({ from, to }) => jump(from, to, counts.get(`${from} ${to}`) ?? 0)).filter((arrow) => arrow.count > 0);
}

/** An arrow in words: a line each. */
export function arrowLines(arrow: Arrow, text: (row: number) => string, isOneWave: boolean): string[] {
  if (!arrow.counter) {
    return [
      `${arrow.from}  ${text(arrow.from)}`,
      `→ ${arrow.to}  ${text(arrow.to)}`,
      Number.isNaN(arrow.count)
        ? "from the code; how often it was taken is not known"
        : `taken ${exact(arrow.count)} times`,
    ];
  }
  const stall = isOneWave ? "stall of these waits" : "stall when it certainly ended the wait";
  return [
    `${arrow.from}  ${text(arrow.from)}`,
    `→ ${arrow.to}  ${text(arrow.to)}`,
    `${arrow.counter}: awaited ${exact(arrow.count)} times`,
    `issued ${short(arrow.distanceCycles)} cycles, ${short(arrow.distanceInstructions)} instructions ahead (mean)`,
    `latency to the end of the wait: ${short(arrow.latency)} cycles (mean)`,
    `${stall}: ${exact(Math.round(arrow.stall))} cycles`,
  ];
}
