// By what the waves of two traces are aligned now: their start, an iteration of a loop, or the selected instruction. This
// asks for what the chosen way needs; alignment.ts says where both stand under each other then.
import type { LoopsAnswer } from "../../data/answers.gen";
import { json, together } from "../../data/ask";
import { current, ofDocument } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { iterationsOf } from "../../model/loops";
import { selection } from "../../model/selection";
import { waveOf } from "../../model/wave_data";
import { type Wave, wavesNow } from "../../model/waves";
import { type Aligned, byLoop, byRow, byStart, hottest, type Partners, partnerLoop } from "./alignment";

export const WAYS = { start: "start", loop: "loop", row: "instruction" } as const;

export const way = ofDocument<keyof typeof WAYS>("start");
/** Which iteration of the loop, from 0. */
const iteration = ofDocument(0);

export function IterationField() {
  return (
    <label>
      iteration{" "}
      <input
        type="number"
        min={1}
        class="iteration-field"
        aria-label="Iteration"
        value={iteration.value + 1}
        onChange={(event) => (iteration.value = Math.max(0, Math.round(Number(event.currentTarget.value)) - 1 || 0))}
      />
    </label>
  );
}

interface ToAlign {
  /** Document of the baseline, and its waves. */
  base: number;
  waves: Wave[];
  /** The waves whose loops or instructions are aligned. */
  wave: Wave | undefined;
  baseWave: Wave | undefined;
  partners: Partners;
}

export function useAligned({ base, waves, wave, baseWave, partners }: ToAlign): Aligned {
  const byLoops = useAlignedLoops({ base, waves, wave, baseWave, partners });
  const byRows = useAlignedRows({ base, waves, wave, baseWave, partners });
  if (way.value === "start") return byStart(wavesNow(), waves);
  return way.value === "loop" ? byLoops : byRows;
}

const WAITING: Aligned = { why: "on its way" };

/** By an iteration of the hottest loop; asked for only where that is the chosen way. */
function useAlignedLoops({ base, wave, baseWave, partners }: ToAlign): Aligned {
  const here = current.value;
  const isWanted = way.value === "loop";
  const loops = useAnswer(
    isWanted ? together(json<LoopsAnswer>(here, "loops"), json<LoopsAnswer>(base, "loops")) : null,
  ).value;
  const iterations = useAnswer(
    isWanted && wave && baseWave ? together(iterationsOf(here, wave.wave), iterationsOf(base, baseWave.wave)) : null,
  ).value;
  if (loops.state === "failed") return { why: loops.error.what };
  if (iterations.state === "failed") return { why: iterations.error.what };
  if (loops.state !== "ready" || iterations.state !== "ready") return WAITING;
  const [ownLoops, baseLoops] = loops.value;
  const [ownIterations, baseIterations] = iterations.value;
  const loop = hottest(ownLoops.loops.rows);
  const partner = partnerLoop(loop, baseLoops.loops.rows, partners);
  return byLoop({ loop, iterations: ownIterations }, { loop: partner, iterations: baseIterations }, iteration.value);
}

/** By the selected execution of the selected row; asked for only where that is the chosen way. */
function useAlignedRows({ base, wave, baseWave, partners }: ToAlign): Aligned {
  const { row, iteration: execution } = selection.value;
  const isWanted = way.value === "row" && wave && baseWave;
  const data = useAnswer(
    isWanted ? together(waveOf(current.value, wave.wave), waveOf(base, baseWave.wave)) : null,
  ).value;
  if (data.state === "failed") return { why: data.error.what };
  if (data.state !== "ready") return WAITING;
  const [ownData, baseData] = data.value;
  return byRow({ row, n: execution ?? 0 }, { own: ownData, base: baseData, partners });
}
