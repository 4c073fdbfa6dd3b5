// What every view shows while its answer is on its way, and when it cannot be given.
import type { ReadonlySignal } from "@preact/signals";
import { Component, type ComponentChildren, Fragment, type VNode } from "preact";
import { useRef } from "preact/hooks";
import { AnswerError } from "../data/source";
import { now, trouble } from "../model/connection";
import type { Loaded } from "../model/loaded";

interface Props<T> {
  answer: ReadonlySignal<Loaded<T>>;
  /** What chooses the question, where `children` hold it: it is there also when there is no answer. */
  choose?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

/** From then on a view says how long it takes, and can be cancelled. */
const LONG_SECONDS = 2;

/**
 * While the answer to the next question is on its way, what was drawn of the last one stays as it was, so that filters
 * and the focus are not lost; it is not seen after a moment, and never drawn anew (theme.css).
 */
export function Answered<T>({ answer, choose, children }: Props<T>): VNode {
  const drawn = useRef<ComponentChildren>(null);
  const loaded = answer.value;
  // without a server it waits as well: the line at the bottom of the page says why
  const isWaiting = loaded.state === "waiting" || (loaded.state === "failed" && loaded.error.isConnection);
  if (loaded.state === "failed" && !isWaiting) {
    drawn.current = null;
    return (
      <>
        {choose ? <div class="toolbar">{choose}</div> : null}
        {loaded.again ? <Cancelled again={loaded.again} /> : <Problem error={loaded.error} />}
      </>
    );
  }
  const waiting = loaded.state === "waiting" ? <Waiting since={loaded.since} cancel={loaded.cancel} /> : <Waiting />;
  if (isWaiting && drawn.current === null) return waiting;
  if (loaded.state === "ready") drawn.current = children(loaded.value);
  return (
    <div class="answered" aria-busy={isWaiting}>
      {isWaiting ? waiting : null}
      <Fragment key="drawn">{drawn.current}</Fragment>
    </div>
  );
}

/** Without a server nothing is on its way; the banner of the page says what to do. */
export function Waiting({ since, cancel }: { since?: number | undefined; cancel?: (() => void) | undefined }): VNode {
  const seconds = since === undefined ? 0 : Math.max(0, Math.round((now.value - since) / 1000));
  if (trouble.value) return <p class="note waiting">Not loaded: the server does not answer.</p>;
  return (
    <p class="note waiting" role="status">
      Loading…
      {seconds >= LONG_SECONDS ? (
        <>
          {" "}
          for {seconds} s{" "}
          {cancel ? (
            <button type="button" data-action="cancel" title="The server stops its work on this view" onClick={cancel}>
              Cancel
            </button>
          ) : null}
        </>
      ) : null}
    </p>
  );
}

function Cancelled({ again }: { again: () => void }): VNode {
  return (
    <p class="note" data-cancelled>
      Cancelled.{" "}
      <button type="button" onClick={again}>
        Load it
      </button>
    </p>
  );
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

/** A view that fails says so in its own place, instead of leaving it blank. */
export class Guarded extends Component<{ children?: ComponentChildren }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static override getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    if (!error) return this.props.children;
    const advice = "please report what the browser's console says (F12); closing and opening the view tries again";
    return <Problem error={new AnswerError(`this is a bug in the page: ${error.message}`, { advice })} />;
  }
}
