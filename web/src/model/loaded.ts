// Answers on their way: every view shows that it waits, what arrived, or what went wrong.
import { computed, type ReadonlySignal, signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Question } from "../data/ask";
import { AnswerError, CANCELLED } from "../data/source";
import { reportFailure, turn } from "./connection";

export type Loaded<T> =
  /** `since`: of `performance.now`; `cancel`: ask no longer. */
  | { state: "waiting"; since?: number; cancel?: () => void }
  | { state: "ready"; value: T }
  /** `again`: of what was cancelled, ask anew. */
  | { state: "failed"; error: AnswerError; again?: () => void };

export function asAnswerError(error: unknown): AnswerError {
  return error instanceof AnswerError ? error : new AnswerError(String(error instanceof Error ? error.message : error));
}

/** A question that was asked: what is known of its answer, and a way to want it no longer. */
interface Asked<T> {
  loaded: ReadonlySignal<Loaded<T>>;
  release: () => void;
}

/** Asks; the signal is of this question alone, so whatever arrives late stands under no other. */
function asked<T>(question: Question<T> | null): Asked<T> {
  const arrived = question?.peek();
  const loaded = signal<Loaded<T>>(arrived ? { state: "ready", value: arrived.value } : { state: "waiting" });
  let release = () => {};
  const ask = () => {
    if (!question) return;
    const held = question.held();
    let isWanted = true;
    release = () => {
      isWanted = false;
      held.release();
    };
    const cancel = () => {
      release();
      loaded.value = { state: "failed", error: CANCELLED, again: ask };
    };
    loaded.value = { state: "waiting", since: performance.now(), cancel };
    held.answer.then(
      (value) => {
        if (isWanted) loaded.value = { state: "ready", value };
      },
      (error: unknown) => {
        if (!isWanted) return;
        const problem = asAnswerError(error);
        reportFailure(problem);
        loaded.value = { state: "failed", error: problem };
      },
    );
  };
  if (!arrived) ask();
  return { loaded, release: () => release() };
}

/**
 * The answer to a question. The question is a value that is made anew whenever the component is drawn, out of all that
 * it depends on; when its key is another one, the old answer is gone at once. `null` = there is nothing to ask.
 */
export function useAnswer<T>(question: Question<T> | null): ReadonlySignal<Loaded<T>> {
  const answer = useMemo(() => asked(question), [question?.key, turn.value]); // asked again when the server is back
  useEffect(() => answer.release, [answer]); // nobody waits for the answer of a view that is closed
  const latest = useSignal(answer);
  latest.value = answer;
  return useMemo(() => computed(() => latest.value.loaded.value), []);
}

/** The answer to what `ask` asks, for what is loaded once per document: asked for when it is first read. */
export function answering<T>(ask: () => Question<T> | null): ReadonlySignal<Loaded<T>> {
  const question = computed(ask);
  const latest = computed(() => {
    void turn.value;
    return asked(question.value);
  });
  return computed(() => latest.value.loaded.value);
}
