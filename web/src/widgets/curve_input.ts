// Pointer and wheel of a chart over time: a drag selects an interval, one with another button moves the window, a double
// click shows all; the wheel zooms time, with Ctrl the values, with Shift it moves sideways.
import { cursor } from "../model/curves";
import { type Range, select } from "../model/selection";
import { bounds, fitTime, pan, show, shown, zoom } from "../model/timewindow";
import type { CanvasEvents } from "./canvas";
import type { ChartView } from "./curve_chart";
import { LARGEST_PINCH_STEP, wheelFactor } from "./timeline_input";

const LEAST_DRAG = 4; // pixels; a shorter way is a click

type Drag = { kind: "select"; x: number; from: number; hasMoved: boolean } | { kind: "move"; x: number; window: Range };

export function chartEvents({ frame, values, measuring }: ChartView): CanvasEvents {
  let drag: Drag | null = null;
  const place = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const inside = (time: number) => Math.min(Math.max(time, bounds.value.begin), bounds.value.end);
  const between = (a: number, b: number): Range => ({
    begin: Math.round(inside(Math.min(a, b))),
    end: Math.round(inside(Math.max(a, b))),
  });
  const zoomValues = (factor: number, y: number) => {
    const drawn = frame.current;
    if (!drawn) return;
    const around = Math.max(drawn.value(y), drawn.values.low);
    const [low, high] = [drawn.values.low, drawn.values.high].map((v) => around + (v - around) * factor) as [
      number,
      number,
    ];
    // what begins at zero stays on the floor: only the top moves
    const floor = drawn.values.low === 0 ? 0 : low;
    if (high - floor > 1e-9 * Math.abs(high)) values.value = { low: floor, high };
  };
  return {
    onPointerDown: (event) => {
      const drawn = frame.current;
      if (!drawn) return;
      const { x } = place(event);
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      if (event.button === 0) drag = { kind: "select", x, from: drawn.time(x), hasMoved: false };
      else drag = { kind: "move", x, window: shown.value };
    },
    onPointerMove: (event) => {
      const drawn = frame.current;
      if (!drawn) return;
      const { x } = place(event);
      const time = drawn.time(x);
      cursor.value = x >= drawn.left && time < drawn.window.end ? time : null;
      if (drag?.kind === "select") {
        if (Math.abs(x - drag.x) >= LEAST_DRAG) drag.hasMoved = true;
        if (drag.hasMoved) measuring.value = between(drag.from, time);
      } else if (drag) {
        const by = ((x - drag.x) / drawn.plotWidth) * (drag.window.end - drag.window.begin);
        show({ begin: drag.window.begin - by, end: drag.window.end - by });
      }
    },
    onPointerUp: () => {
      const range = measuring.value;
      if (drag?.kind === "select" && range && range.end > range.begin) select({ range, tracks: undefined });
      measuring.value = null;
      drag = null;
    },
    onPointerCancel: () => {
      measuring.value = null;
      drag = null;
    },
    onPointerLeave: () => {
      if (!drag) cursor.value = null;
    },
    onContextMenu: (event) => event.preventDefault(),
    onDblClick: () => {
      values.value = null;
      fitTime();
    },
    onWheel: (event) => {
      event.preventDefault();
      const drawn = frame.current;
      if (!drawn) return;
      const { x, y } = place(event);
      const lines = event.deltaMode === 1 ? 16 : 1;
      const [sideways, down] = [event.deltaX * lines, event.deltaY * lines];
      const factor = wheelFactor(down, false);
      // browsers send a pinch of two fingers as a wheel with Ctrl and small steps
      const isPinch = event.ctrlKey && event.deltaMode === 0 && Math.abs(down) <= LARGEST_PINCH_STEP;
      if (isPinch) zoom(wheelFactor(down, true), drawn.time(Math.max(x, drawn.left)));
      else if (event.ctrlKey || event.metaKey) zoomValues(factor, y);
      else if (event.shiftKey || Math.abs(sideways) > Math.abs(down)) pan((sideways || down) / drawn.plotWidth);
      else zoom(factor, drawn.time(Math.max(x, drawn.left)));
    },
  };
}
