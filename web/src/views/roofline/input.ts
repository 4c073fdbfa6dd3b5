// Pointer and wheel of the roofline: hover, choose, move, zoom.
import type { Signal } from "@preact/signals";
import type { LogFrame, LogWindow } from "../../draw/loglog";
import type { CanvasEvents } from "../../widgets/canvas";
import type { Scene } from "./scene";

/** The mark that the pointer is over, and the pixel where it stands. */
export interface PointedMark {
  mark: Scene["marks"][number];
  x: number;
  y: number;
}

/** What events read and change. */
export interface PlotState {
  /** What was painted last; null = nothing yet. */
  frame: { current: LogFrame | null };
  scene: { current: Scene | null };
  /** null = all of it. */
  window: Signal<LogWindow | null>;
  over: Signal<PointedMark | null>;
  choose: (kernel: number | null) => void;
}

/** A mark within so many pixels of the pointer is meant. */
const NEAR = 14;
/** Less movement than so many pixels is a click, not a drag. */
const LEAST_DRAG = 4;
/** Zoom for one pixel of the wheel, what a line of it counts in pixels, and the most of one event. */
const ZOOM_PER_PIXEL = 1.0018;
const WHEEL_LINE = 16;
const MOST_WHEEL = 300;

export function rooflineEvents({ frame, scene, window, over, choose }: PlotState): CanvasEvents {
  let drag: { x: number; y: number; from: LogFrame; hasMoved: boolean } | null = null;
  const placeOf = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  return {
    onPointerDown: (event) => {
      if (!frame.current || event.button !== 0) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      drag = { ...placeOf(event), from: frame.current, hasMoved: false };
    },
    onPointerMove: (event) => {
      const pointer = placeOf(event);
      if (!drag) {
        over.value = nearest(frame.current, scene.current, pointer.x, pointer.y);
        return;
      }
      drag.hasMoved ||= Math.hypot(pointer.x - drag.x, pointer.y - drag.y) >= LEAST_DRAG;
      if (drag.hasMoved) window.value = drag.from.moved(pointer.x - drag.x, pointer.y - drag.y);
    },
    onPointerUp: (event) => {
      const { x, y } = placeOf(event);
      if (drag && !drag.hasMoved) choose(nearest(frame.current, scene.current, x, y)?.mark.kernel ?? null);
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
      const { x, y } = placeOf(event);
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_LINE : 1);
      const factor = ZOOM_PER_PIXEL ** Math.min(Math.max(pixels, -MOST_WHEEL), MOST_WHEEL);
      window.value = frame.current.zoomed(factor, x, y);
    },
  };
}

/** The mark at a pixel; of several, the nearest; null = none is near. */
function nearest(frame: LogFrame | null, scene: Scene | null, x: number, y: number): PointedMark | null {
  if (!frame || !scene) return null;
  let best: PointedMark | null = null;
  let least = NEAR;
  for (const mark of scene.marks) {
    const place = { x: frame.x(mark.intensity), y: frame.y(mark.gops_per_second) };
    const distance = Math.hypot(place.x - x, place.y - y);
    if (distance >= least) continue;
    least = distance;
    best = { mark, ...place };
  }
  return best;
}
