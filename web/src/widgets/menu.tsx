// A drop-down that closes when something else is clicked, or with Escape.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "./menu.css";

interface Props {
  name: string;
  hint: string;
  class?: string;
  /** Made only while it is open. */
  children: () => ComponentChildren;
}

export function Menu({ name, hint, class: more, children }: Props) {
  const box = useRef<HTMLDetailsElement>(null);
  const isOpen = useSignal(false);
  useEffect(() => {
    const close = (event: Event) => {
      const details = box.current;
      if (details?.open && !details.contains(event.target as Node)) details.open = false;
    };
    window.addEventListener("pointerdown", close, true);
    return () => window.removeEventListener("pointerdown", close, true);
  }, []);
  return (
    <details
      class="menu"
      ref={box}
      onToggle={() => {
        isOpen.value = box.current?.open === true;
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !box.current?.open) return;
        event.stopPropagation();
        box.current.open = false;
        box.current.querySelector("summary")?.focus();
      }}
    >
      <summary title={hint}>{name}</summary>
      {isOpen.value ? <div class={`menu-body ${more ?? ""}`}>{children()}</div> : null}
    </details>
  );
}
