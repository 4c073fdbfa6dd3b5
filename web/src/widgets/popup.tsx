// A button with a list that opens below it, over everything else, and closes by Escape or a click elsewhere.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import "./popup.css";

interface Props {
  /** What stands on the button. */
  text: ComponentChildren;
  /** What the list is, in words; also its `data-popup`. */
  name: string;
  hint: string;
  class?: string;
  disabled?: boolean;
  /** Drawn only while it is open. */
  children: (close: () => void) => ComponentChildren;
}

/** `useId` counts anew in every panel. */
let count = 0;

const EDGE = 6;
const CHOICES = "button:not(:disabled), input, select, textarea";

/** ↓ and ↑ go from one choice to the next, Home and End to the first and last. */
function move(event: KeyboardEvent): void {
  if (event.key === "Escape") event.stopPropagation(); // closes this list, and nothing else
  const box = event.currentTarget as HTMLElement;
  const isField = event.target instanceof HTMLInputElement;
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
  const choices = [...box.querySelectorAll<HTMLElement>(CHOICES)];
  const at = choices.indexOf(document.activeElement as HTMLElement);
  let next: number | undefined;
  if (event.key in steps) next = at + (steps[event.key] as number);
  else if (!isField && event.key === "Home") next = 0;
  else if (!isField && event.key === "End") next = choices.length - 1;
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  choices[(next + choices.length) % choices.length]?.focus();
}

export function Popup({ text, name, hint, class: look, disabled, children }: Props) {
  const id = useMemo(() => `popup-${++count}`, []);
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  // Who speaks to a page says what he sees: the name of the button has the words on it.
  const words = typeof text === "string" ? text.replace(" ▾", "") : name;
  useLayoutEffect(() => {
    const [from, list] = [button.current?.getBoundingClientRect(), box.current];
    if (!isOpen.value || !from || !list) return;
    const { width } = list.getBoundingClientRect();
    list.style.left = `${Math.max(EDGE, Math.min(from.left, innerWidth - width - EDGE))}px`;
    list.style.top = `${from.bottom + 2}px`;
    list.style.maxHeight = `${innerHeight - from.bottom - 2 - EDGE}px`;
    (list.querySelector<HTMLElement>(CHOICES) ?? list).focus(); // keys act on the list, also where it is only read
  }, [isOpen.value]);
  return (
    <>
      <button
        type="button"
        ref={button}
        class={`quiet ${look ?? ""}`}
        title={hint}
        aria-label={words.includes(name) ? words : `${name}: ${words}`}
        aria-haspopup="dialog"
        aria-expanded={isOpen.value}
        data-opens={name}
        disabled={disabled}
        popovertarget={id}
      >
        {text}
      </button>
      <div
        class="popup"
        id={id}
        ref={box}
        popover="auto"
        role="dialog"
        tabIndex={-1}
        aria-label={name}
        data-popup={name}
        onToggle={(event) => {
          isOpen.value = event.newState === "open";
        }}
        onKeyDown={move}
      >
        {isOpen.value ? children(() => box.current?.hidePopover()) : null}
      </div>
    </>
  );
}
