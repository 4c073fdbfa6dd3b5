// A dialog: takes the focus, holds it while it is open, gives it back, and closes on Escape or a click beside it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./dialog.css";

interface Props {
  label: string;
  class?: string;
  /** Called when it was closed, however that was. */
  close: () => void;
  children: ComponentChildren;
}

const FOCUSABLE = "button, input, select, textarea, a[href], summary, [tabindex='0']";

/** Closes the dialog around an element now: the focus is back before what follows asks for it. */
export function closeDialogOf(element: Element | null | undefined): void {
  element?.closest("dialog")?.close();
}

export function Dialog({ label, class: name = "", close, children }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const dialog = box.current;
    if (event.key !== "Tab" || !dialog) return;
    const items = [...dialog.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
      (item) => item.tabIndex >= 0 && item.getClientRects().length && !item.matches(":disabled"),
    );
    const [first, last] = [items[0], items.at(-1)];
    if (document.activeElement !== (event.shiftKey ? first : last)) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  };
  const onPress = (event: MouseEvent) => {
    const { left, right, top, bottom } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const isInside = event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
    if (event.target === box.current && !isInside) box.current?.close();
  };
  return (
    <dialog
      ref={box}
      class={`dialog ${name}`}
      aria-label={label}
      onClose={close}
      onKeyDown={onKeyDown}
      onPointerDown={onPress}
    >
      {children}
    </dialog>
  );
}

export function DialogHead({ title }: { title: string }) {
  return (
    <div class="dialog-head">
      <h2>{title}</h2>
      <button type="button" class="quiet" aria-label="Close" onClick={(event) => closeDialogOf(event.currentTarget)}>
        ×
      </button>
    </div>
  );
}
