// By how much the times of the baseline are moved so that both traces stand under each other.
import type { CompareUnitsRow, LoopsRow } from "../../data/answers.gen";
import type { Columns } from "../../data/columns";
import type { Iteration } from "../../model/loops";
import { timesOf, type WaveData } from "../../model/wave_data";
import { longestWave, type Wave } from "../../model/waves";

/** Which instruction of one trace is which of the other, by code rows, and what the rows of the base read. */
export interface Partners {
  toBase: Map<number, number>;
  fromBase: Map<number, number>;
  baseTexts: Map<number, string>;
}

export function partnersFrom(columns: Columns): Partners {
  const partners: Partners = { toBase: new Map(), fromBase: new Map(), baseTexts: new Map() };
  for (const { row, base_row, base_label } of columns.rows<CompareUnitsRow>()) {
    if (base_row !== null) partners.baseTexts.set(base_row, base_label ?? "");
    if (row === null || base_row === null) continue;
    partners.toBase.set(row, base_row);
    partners.fromBase.set(base_row, row);
  }
  return partners;
}

/** The wave of the base that lived where a wave lived, as the same one in turn; else the one with most instructions. */
export function partnerWave(wave: Wave | undefined, waves: Wave[]): Wave | undefined {
  const isSame = (other: Wave) =>
    (["se", "cu", "simd", "slot", "slotWave"] as const).every((name) => other[name] === wave?.[name]);
  return waves.find((other) => isSame(other) && other.instructions > 0) ?? longestWave(waves);
}

/** The moments of both that stand under each other, and the offset that moves the base there; or why there are none. */
export type Aligned = { offset: number; own: number; base: number } | { why: string };

/** `why` is said where one of the moments is not known. */
function between(own: number | undefined, base: number | undefined, why: string): Aligned {
  return own === undefined || base === undefined ? { why } : { offset: own - base, own, base };
}

const firstBegin = (waves: Wave[]) =>
  waves.length ? waves.reduce((first, wave) => Math.min(first, wave.begin), Number.POSITIVE_INFINITY) : undefined;

/** The first traced waves of both start together. */
export function byStart(own: Wave[], base: Wave[]): Aligned {
  return between(firstBegin(own), firstBegin(base), "no wave was traced in one of them");
}

/** The loop in which most cycles are spent, those of inner loops left out. */
export function hottest(loops: LoopsRow[]): LoopsRow | undefined {
  return [...loops].sort((a, b) => b.self_cycles_share - a.self_cycles_share)[0];
}

/** The innermost loop of the base around the partner of the first instruction of a loop; else its hottest. */
export function partnerLoop(loop: LoopsRow | undefined, loops: LoopsRow[], partners: Partners): LoopsRow | undefined {
  const start = loop && partners.toBase.get(loop.start_row);
  const isAround = (other: LoopsRow) => start !== undefined && other.first_row <= start && start <= other.last_row;
  const around = loops.filter(isAround).sort((a, b) => b.depth - a.depth);
  return around[0] ?? hottest(loops);
}

/** A loop of one of the traces, and the iterations of one wave in all its loops. */
export interface LoopOfWave {
  loop: LoopsRow | undefined;
  iterations: Iteration[];
}

/** The n-th iteration (from 0) of a loop of each starts at the same time. */
export function byLoop(own: LoopOfWave, base: LoopOfWave, n: number): Aligned {
  const begin = ({ loop, iterations }: LoopOfWave) =>
    iterations.filter((iteration) => iteration.loop === loop?.loop)[n]?.begin;
  const haveLoops = own.loop && base.loop;
  return between(
    begin(own),
    begin(base),
    haveLoops ? "one of the waves has no such iteration" : "one of the waves goes round no loop",
  );
}

/** The n-th execution (from 0) of the selected row and that of its partner start at the same time. */
export function byRow(
  { row, n }: { row: number | undefined; n: number },
  { own, base, partners }: { own: WaveData; base: WaveData; partners: Partners },
): Aligned {
  if (row === undefined) return { why: "select an instruction, here or in any other view" };
  const partner = partners.toBase.get(row);
  if (partner === undefined) return { why: "the baseline has no instruction like the selected one" };
  return between(timesOf(own, row)[n], timesOf(base, partner)[n], "one of the waves does not execute it");
}
