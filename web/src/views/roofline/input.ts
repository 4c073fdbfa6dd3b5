// Pointer and wheel of the roofline: hover, choose, move, zoom.
import type { Signal } from "@preact/signals";
import type { LogFrame, LogWindow } from "../../draw/loglog";
import type { CanvasEvents } from "../../widgets/canvas";
import type { Scene } from "./scene";

export interface Looked {
  frame: { current: LogFrame | null };
  scene: { current: Scene | null };
  /** null = all of it. */
  window: Signal<LogWindow | null>;
  /** What the pointer is over, and where that is. */
  over: Signal<{ mark: Scene["marks"][number]; x: number; y: number } | null>;
  choose: (kernel: number | null) => void;
}

const NEAR = 14;
const LEAST_DRAG = 4;

export function rooflineEvents({ frame, scene, window, over, choose }: Looked): CanvasEvents {
  let drag: { x: number; y: number; from: LogFrame; hasMoved: boolean } | null = null;
  const place = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  return {
    onPointerDown: (event) => {
      if (!frame.current || event.button !== 0) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      drag = { ...place(event), from: frame.current, hasMoved: false };
    },
    onPointerMove: (event) => {
      const at = place(event);
      if (!drag) {
        over.value = nearest(frame.current, scene.current, at.x, at.y);
        return;
      }
      drag.hasMoved ||= Math.hypot(at.x - drag.x, at.y - drag.y) >= LEAST_DRAG;
      if (drag.hasMoved) window.value = drag.from.moved(at.x - drag.x, at.y - drag.y);
    },
    onPointerUp: (event) => {
      const at = place(event);
      if (drag && !drag.hasMoved) choose(nearest(frame.current, scene.current, at.x, at.y)?.mark.kernel ?? null);
      drag = null;
    },
    onPointerLeave: () => {
      if (!drag) over.value = null;
    },
    onDblClick: () => {
      window.value = null;
    },
    onWheel: (event) => {
      event.preventDefault();
      if (!frame.current) return;
      const { x, y } = place(event);
      const down = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      window.value = frame.current.zoomed(1.0018 ** Math.min(Math.max(down, -300), 300), x, y);
    },
  };
}

/** The mark at a place; of several, the nearest. */
export function nearest(
  frame: LogFrame | null,
  scene: Scene | null,
  x: number,
  y: number,
): { mark: Scene["marks"][number]; x: number; y: number } | null {
  let best: ReturnType<typeof nearest> = null;
  let least = NEAR;
  for (const mark of frame ? (scene?.marks ?? []) : []) {
    const at = { x: frame?.x(mark.intensity) ?? 0, y: frame?.y(mark.gops_per_second) ?? 0 };
    const far = Math.hypot(at.x - x, at.y - y);
    if (far >= least) continue;
    least = far;
    best = { mark, ...at };
  }
  return best;
}
