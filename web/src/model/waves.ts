// The traced waves of the current document, loaded once: where they ran, when, and how much of it they stalled.
import { effect } from "@preact/signals";
import { arrow, type Question } from "../data/ask";
import type { Columns } from "../data/columns";
import { current, overview } from "./document";
import { answering } from "./loaded";
import { select, selection } from "./selection";

export interface Wave {
  wave: number;
  se: number;
  cu: number;
  simd: number;
  slot: number;
  /** Its number among the waves of its slot. */
  slotWave: number;
  /** Aligned cycles. */
  begin: number;
  end: number;
  /** Index of its first instruction among those of the trace. */
  firstInstruction: number;
  /** How many instructions it executed. */
  instructions: number;
  /** Cycles. */
  stall: number;
}

/** The traced waves of a document, in the order of their numbers. */
export function wavesOf(document: number): Question<Wave[]> {
  return arrow(document, "waves").as(wavesFrom);
}

const answer = answering(() => (overview.value?.kind === "trace" ? wavesOf(current.value) : null));

/** The waves in the order of their numbers; empty while they are on their way. */
export function wavesNow(): Wave[] {
  return answer.value.state === "ready" ? answer.value.value : NONE;
}

/** Always the same list: what depends on it is not computed anew. */
const NONE: Wave[] = [];

/** Every view that is about one wave needs them: they are on their way before the first of them asks. */
effect(() => {
  void answer.value;
});

function wavesFrom(columns: Columns): Wave[] {
  const [wave, se, cu] = [columns.numbers("wave"), columns.numbers("se"), columns.numbers("cu")];
  const [simd, slot, slotWave] = [columns.numbers("simd"), columns.numbers("slot"), columns.numbers("slot_wave")];
  const [begin, end] = [columns.numbers("start_cycles"), columns.numbers("end_cycles")];
  const firstInstruction = columns.numbers("first_instruction");
  const [instructions, stall] = [columns.numbers("instruction_count"), columns.numbers("stall_cycles_total")];
  return Array.from({ length: columns.length }, (_, i) => ({
    wave: wave[i] as number,
    se: se[i] as number,
    cu: cu[i] as number,
    simd: simd[i] as number,
    slot: slot[i] as number,
    slotWave: slotWave[i] as number,
    begin: begin[i] as number,
    end: end[i] as number,
    firstInstruction: firstInstruction[i] as number,
    instructions: instructions[i] as number,
    stall: stall[i] as number,
  }));
}

/** The wave with the most instructions: what the analyses look at when one wave is needed and none is chosen. */
export function longestWave(waves: Wave[]): Wave | undefined {
  return waves.reduce<Wave | undefined>(
    (best, wave) => (best === undefined || wave.instructions > best.instructions ? wave : best),
    undefined,
  );
}

/** The wave that per-wave figures, arrows and stepping are about: the selected one, else the longest. */
export function targetWave(): Wave | undefined {
  const chosen = selection.value.wave;
  return wavesNow().find((wave) => wave.wave === chosen) ?? longestWave(wavesNow());
}

/** Make a wave the target; executions count anew in each wave. */
export function selectWave(wave: number | undefined): void {
  select({ wave, iteration: undefined });
}
