// Two parts with a bar between them that is dragged or moved by keys; its place is stored.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { change, settings } from "../model/settings";
import "./split.css";

interface Props {
  /** Under which its place is stored. */
  name: string;
  label: string;
  direction: "row" | "column";
  /** Share of the first part at first, 0 to 1. */
  first: number;
  /** The second part is only as large as its content, and no bar is there. */
  isBrief?: boolean;
  children: [ComponentChildren, ComponentChildren];
}

const [LEAST, MOST, STEP] = [0.08, 0.92, 0.04];

export function Split({ name, label, direction, first, isBrief, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const key = `split.${name}`;
  const stored = settings.value[key];
  const share = bounded(typeof stored === "number" ? stored : first);
  const place = (to: number) => change({ [key]: bounded(to) });
  const isRow = direction === "row";
  const drag = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    if (!bar.hasPointerCapture(event.pointerId) || !box.current) return;
    const { left, top, width, height } = box.current.getBoundingClientRect();
    place(isRow ? (event.clientX - left) / width : (event.clientY - top) / height);
  };
  const [back, on] = isRow ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  return (
    <div class={`split split-${direction}`} ref={box}>
      <div class="split-part" style={{ flex: isBrief ? "1 1 0" : `${share} 1 0` }}>
        {children[0]}
      </div>
      <div
        class="split-bar"
        hidden={isBrief}
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation={isRow ? "vertical" : "horizontal"}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={LEAST * 100}
        aria-valuemax={MOST * 100}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          event.preventDefault();
        }}
        onPointerMove={drag}
        onDblClick={() => place(first)}
        onKeyDown={(event) => {
          const by = { [back as string]: -STEP, [on as string]: STEP }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          place(share + by);
        }}
      />
      <div class="split-part" style={{ flex: isBrief ? "none" : `${1 - share} 1 0` }}>
        {children[1]}
      </div>
    </div>
  );
}

const bounded = (share: number) => (share >= LEAST && share <= MOST ? share : share < LEAST ? LEAST : MOST);
