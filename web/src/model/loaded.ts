// Answers on their way: every view shows that it waits, what arrived, or what went wrong.
import { type ReadonlySignal, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { AnswerError } from "../data/source";

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
  const turn = useSignal({ number: 0 });
  useSignalEffect(() => {
    const asked = ask();
    const mine = ++turn.peek().number;
    if (!asked) return;
    asked.then(
      (value) => {
        if (mine === turn.peek().number) loaded.value = { state: "ready", value };
      },
      (error: unknown) => {
        if (mine === turn.peek().number) loaded.value = { state: "failed", error: asAnswerError(error) };
      },
    );
  });
  return useComputed(() => loaded.value);
}

/** Problems that belong to no view: the shell shows them in a banner. */
export const trouble = signal<AnswerError | null>(null);
