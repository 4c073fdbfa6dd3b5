// What every view shows while its answer is on its way, and when it cannot be given.
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import type { AnswerError } from "../data/source";
import type { Loaded } from "../model/loaded";

interface Props<T> {
  answer: ReadonlySignal<Loaded<T>>;
  children: (value: T) => ComponentChildren;
}

export function Answered<T>({ answer, children }: Props<T>): VNode {
  const loaded = answer.value;
  if (loaded.state === "waiting") return <p class="note waiting">Loading…</p>;
  if (loaded.state === "failed") return <Problem error={loaded.error} />;
  return <>{children(loaded.value)}</>;
}

export function Problem({ error }: { error: AnswerError }): VNode {
  return (
    <div class="note problem" role="alert">
      <p>
        {error.where ? <code>{error.where}</code> : null} {error.what}
      </p>
      {error.kept ? <p>still there: {error.kept}</p> : null}
      {error.advice ? <p>try: {error.advice}</p> : null}
    </div>
  );
}

/** A sentence where there is nothing to show. */
export function Nothing({ children }: { children: ComponentChildren }): VNode {
  return <p class="note">{children}</p>;
}
