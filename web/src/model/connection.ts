// When the server does not answer: say so, look for it, and ask again once it is back (after sleep, or a stopped process
// that goes on).
import { signal } from "@preact/signals";
import { oldestQuestion } from "../data/ask";
import { type AnswerError, source } from "../data/source";

/** Why nothing can be asked now; the shell shows it above all views. */
export const trouble = signal<AnswerError | null>(null);
/** Grows when the server is back: what failed is asked again. */
export const turn = signal(0);

/** Grows every second: what tells how long something takes is drawn again. */
export const now = signal(performance.now());

/** Seconds for which an answer has been on its way, once they are many: a long computation, or a server that sleeps. */
export const waitingSeconds = signal(0);

export const LOOK_AGAIN_MS = 2000;
const LONG_MS = 6000;
let timer = 0;

async function look(): Promise<void> {
  try {
    await source.get("documents");
  } catch {
    timer = window.setTimeout(look, LOOK_AGAIN_MS);
    return;
  }
  timer = 0;
  trouble.value = null;
  turn.value += 1;
}

/** Called for every answer that failed. */
export function reportFailure(error: AnswerError): void {
  if (!error.isConnection) return;
  trouble.value = error;
  if (!timer) timer = window.setTimeout(look, LOOK_AGAIN_MS);
}

setInterval(() => {
  now.value = performance.now();
  const since = oldestQuestion();
  const elapsed = since === null ? 0 : performance.now() - since;
  waitingSeconds.value = elapsed > LONG_MS ? Math.round(elapsed / 1000) : 0;
}, 1000);
