// Answers on their way: every view shows that it waits, what arrived, or what went wrong.
import { computed, type ReadonlySignal, signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Question } from "../data/ask";
import { AnswerError } from "../data/source";
import { reportFailure, turn } from "./connection";

export type Loaded<T> = { state: "waiting" } | { state: "ready"; value: T } | { state: "failed"; error: AnswerError };

const WAITING: { state: "waiting" } = { state: "waiting" };

export function asAnswerError(error: unknown): AnswerError {
  return error instanceof AnswerError ? error : new AnswerError(String(error instanceof Error ? error.message : error));
}

/** Asks; the signal is of this question alone, so whatever arrives late stands under no other. */
function asked<T>(question: Question<T> | null): ReadonlySignal<Loaded<T>> {
  const arrived = question?.peek();
  const loaded = signal<Loaded<T>>(arrived ? { state: "ready", value: arrived.value } : WAITING);
  if (question && !arrived) {
    question.answer().then(
      (value) => {
        loaded.value = { state: "ready", value };
      },
      (error: unknown) => {
        const problem = asAnswerError(error);
        reportFailure(problem);
        loaded.value = { state: "failed", error: problem };
      },
    );
  }
  return loaded;
}

/**
 * The answer to a question. The question is a value that is made anew whenever the component is drawn, out of all that
 * it depends on; when its key is another one, the old answer is gone at once. `null` = there is nothing to ask.
 */
export function useAnswer<T>(question: Question<T> | null): ReadonlySignal<Loaded<T>> {
  const answer = useMemo(() => asked(question), [question?.key, turn.value]); // asked again when the server is back
  const latest = useSignal(answer);
  latest.value = answer;
  return useMemo(() => computed(() => latest.value.value), []);
}

/** The answer to what `ask` asks, for what is loaded once per document: asked for when it is first read. */
export function answering<T>(ask: () => Question<T> | null): ReadonlySignal<Loaded<T>> {
  const question = computed(ask);
  const latest = computed(() => {
    void turn.value;
    return asked(question.value);
  });
  return computed(() => latest.value.value);
}
