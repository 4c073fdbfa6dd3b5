// Answers on their way: every view shows that it waits, what arrived, or what went wrong.
import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { AnswerError } from "../data/source";
import { reportFailure, turn } from "./connection";

export type Loaded<T> = { state: "waiting" } | { state: "ready"; value: T } | { state: "failed"; error: AnswerError };

export function asAnswerError(error: unknown): AnswerError {
  return error instanceof AnswerError ? error : new AnswerError(String(error instanceof Error ? error.message : error));
}

/**
 * The answer to what `ask` asks, asked again whenever a signal that `ask` reads has changed. The last answer stays
 * until the next one is there; `null` from `ask` means that there is nothing to ask.
 */
export function useAnswer<T>(ask: () => Promise<T> | null): ReadonlySignal<Loaded<T>> {
  const loaded = useSignal<Loaded<T>>({ state: "waiting" });
  const latest = useSignal({ number: 0 });
  useSignalEffect(() => {
    void turn.value;
    const asked = ask();
    const mine = ++latest.peek().number;
    if (!asked) return;
    asked.then(
      (value) => {
        if (mine === latest.peek().number) loaded.value = { state: "ready", value };
      },
      (error: unknown) => {
        if (mine !== latest.peek().number) return;
        const problem = asAnswerError(error);
        reportFailure(problem);
        loaded.value = { state: "failed", error: problem };
      },
    );
  });
  return useComputed(() => loaded.value);
}
