// A drop-down that closes when something else is clicked.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  name: string;
  hint: string;
  class?: string;
  children: ComponentChildren;
}

export function Menu({ name, hint, class: more, children }: Props) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const details = box.current;
      if (details?.open && !details.contains(event.target as Node)) details.open = false;
    };
    window.addEventListener("pointerdown", close, true);
    return () => window.removeEventListener("pointerdown", close, true);
  }, []);
  return (
    <details class="menu" ref={box}>
      <summary title={hint}>{name}</summary>
      <div class={`menu-body ${more ?? ""}`}>{children}</div>
    </details>
  );
}
