// A view that was closed can be put back where it was.
import { signal } from "@preact/signals";
import { Icon } from "../widgets/icon";
import type { Layout } from "./layout";

interface Closed {
  title: string;
  /** What was on screen before. */
  layout: Layout;
}

export const closedView = signal<Closed | null>(null);

export function UndoClose({ layOut }: { layOut: (layout: Layout) => void }) {
  const closed = closedView.value;
  if (!closed) return null;
  const forget = () => (closedView.value = null);
  return (
    <p class="undo-close" role="status" data-banner="closed-view">
      {closed.title} is closed; <em>Views</em> has it
      <button
        type="button"
        class="quiet"
        data-action="undo-close"
        onClick={() => {
          layOut(closed.layout);
          forget();
        }}
      >
        <Icon name="undo" /> Put it back
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={forget}>
        <Icon name="close" />
      </button>
    </p>
  );
}
