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
  /** How often it was awaited or taken; NaN = not known. */
  count: number;
  /** Stall of the executions that this producer ended (all waves), or in which it was awaited (one wave); NaN = none. */
  stall: number;
  /** Means: from the issue of what was awaited to the first attempt of the wait; to the end of the wait. */
  distanceCycles: number;
  distanceInstructions: number;
  latency: number;
}

/** The arrows of the question `arrows`: over all waves. */
export function arrowsOfAll(table: Columns): Arrow[] {
  const counters = table.texts("counter");
  const [to, from, count] = [table.numbers("wait_row"), table.numbers("producer_row"), table.numbers("count")];
  const stall = table.numbers("stall_cycles_total");
  const cycles = table.numbers("distance_cycles_mean");
  const instructions = table.numbers("distance_instructions_mean");
  const latency = table.numbers("latency_cycles_mean");
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

/** The arrows of one wave, from `wave_waits` and its instructions: pairs of rows, with sums and means over their executions. */
export function arrowsOfWave(waits: Columns, wave: WaveData): Arrow[] {
  const [wait, producer] = [waits.numbers("instruction"), waits.numbers("producer")];
  const [waitRow, producerRow] = [waits.numbers("row"), waits.numbers("producer_row")];
  const counters = waits.texts("counter");
  const sums = new Map<string, Arrow>(); // of all figures; means follow at the end
  for (let i = 0; i < waits.length; i++) {
    const [from, to, counter] = [producerRow[i] as number, waitRow[i] as number, counters[i] as string];
    if (to < 0 || from < 0) continue; // the PC of one of them is not known
    const key = `${to} ${from} ${counter}`;
    const arrow = sums.get(key) ?? { from, to, counter, ...NOTHING };
    addLink(arrow, wave, { wait: wait[i] as number, producer: producer[i] as number });
    sums.set(key, arrow);
  }
  return [...sums.values()].map(withMeans).sort((a, b) => a.to - b.to || a.from - b.from);
}

const NOTHING = { count: 0, stall: 0, distanceCycles: 0, distanceInstructions: 0, latency: 0 };

/** Adds one wait and what it waited for, by their places among the instructions of the wave. */
function addLink(sum: Arrow, wave: WaveData, { wait, producer }: { wait: number; producer: number }): void {
  const issue = (wave.time[producer] as number) + (wave.stall[producer] as number);
  const begin = wave.time[wait] as number;
  sum.count += 1;
  sum.stall += wave.stall[wait] as number;
  sum.distanceCycles += begin - issue;
  sum.distanceInstructions += wait - producer;
  sum.latency += begin + (wave.duration[wait] as number) - issue;
}

function withMeans(sum: Arrow): Arrow {
  return {
    ...sum,
    distanceCycles: sum.distanceCycles / sum.count,
    distanceInstructions: sum.distanceInstructions / sum.count,
    latency: sum.latency / sum.count,
  };
}

/** A branch has no counter, and nothing that was waited for. */
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
  const [from, to, count] = [table.numbers("from_row"), table.numbers("to_row"), table.numbers("count")];
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
