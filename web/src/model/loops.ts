// The loops of the current trace and the iterations of one wave: where they begin, and stepping from one to the next.
import type { LoopsAnswer, LoopsRow } from "../data/answers.gen";
import { arrow, json, type Question } from "../data/ask";
import type { Columns } from "../data/columns";
import { selectRowInPlace } from "./code";
import { current, overview } from "./document";
import { answering } from "./loaded";
import { selection } from "./selection";
import { show } from "./timewindow";
import { loadWave, positionsOf } from "./wave_data";

export interface Iteration {
  loop: number;
  entry: number;
  iteration: number;
  isLast: boolean;
  /** Aligned cycles. */
  begin: number;
  cycles: number;
  stall: number;
}

/** Asked for when a view first wants them. */
export const loopsAnswer = answering(() =>
  overview.value?.kind === "trace" ? json<LoopsAnswer>(current.value, "loops") : null,
);

/** The loops now; empty while they are on their way. */
export function loopsNow(): LoopsRow[] {
  const answer = loopsAnswer.value;
  return answer.state === "ready" ? answer.value.loops.rows : [];
}

/** The innermost of these loops that holds a row. */
export function loopAround(loops: LoopsRow[], row: number | undefined): LoopsRow | undefined {
  if (row === undefined) return undefined;
  const around = loops.filter((loop) => loop.first_row <= row && row <= loop.last_row);
  return around.reduce<LoopsRow | undefined>(
    (best, loop) => (!best || loop.depth > best.depth ? loop : best),
    undefined,
  );
}

/** All iterations of all loops in one wave, in the order of loops and time. */
export function iterationsOf(document: number, wave: number): Question<Iteration[]> {
  return arrow(document, "wave_loops", { wave }).as(iterationsFrom);
}

function iterationsFrom(columns: Columns): Iteration[] {
  const [loop, entry, iteration] = [columns.numbers("loop"), columns.numbers("entry"), columns.numbers("iteration")];
  const [begin, cycles] = [columns.numbers("start_cycles"), columns.numbers("cycles")];
  const [stall, isLast] = [columns.numbers("stall_cycles"), columns.flags("is_last")];
  return Array.from({ length: columns.length }, (_, i) => ({
    loop: loop[i] as number,
    entry: entry[i] as number,
    iteration: iteration[i] as number,
    isLast: isLast[i] === true,
    begin: begin[i] as number,
    cycles: cycles[i] as number,
    stall: stall[i] as number,
  }));
}

/** Which of a loop's iterations a time lies in; -1 = none. */
export function iterationAt(iterations: Iteration[], time: number): number {
  return iterations.findIndex(({ begin, cycles }) => begin <= time && time < begin + cycles);
}

/**
 * Show exactly one iteration, and select the row's first execution in it: the selected row when it is executed there,
 * else the row with which the iteration begins.
 */
export async function showIteration(wave: number, loop: LoopsRow, iteration: Iteration): Promise<void> {
  const data = await loadWave(wave);
  const end = iteration.begin + iteration.cycles;
  const inside = (row: number) =>
    positionsOf(data, row).findIndex((at) => {
      const time = data.time[at] as number;
      return time >= iteration.begin && time < end;
    });
  const chosen = selection.value.row;
  const isKept = chosen !== undefined && inside(chosen) >= 0;
  const row = isKept ? chosen : loop.start_row;
  const line = isKept ? { sourceLine: selection.value.sourceLine } : {};
  selectRowInPlace(row, { wave, iteration: Math.max(0, inside(row)), ...line });
  show({ begin: iteration.begin, end });
}
