// The whole listing as a strip of heat: where the cost is, what is on screen, and a click to go there.
import type { ReadonlySignal } from "@preact/signals";
import type { Painter } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import { selection } from "../../model/selection";
import { Canvas, type Size } from "../../widgets/canvas";
import type { Items } from "./items";

export interface ScrollSpan {
  /** Shares of the list, from 0 to 1. */
  top: number;
  bottom: number;
}

interface Props {
  items: Items;
  heat: Float64Array;
  onScreen: ReadonlySignal<ScrollSpan>;
  /** Bring this share of the list to the middle of the screen. */
  goTo: (share: number) => void;
}

export function Minimap({ items, heat, onScreen, goTo }: Props) {
  const paint = (painter: Painter, { width, height }: Size) => {
    const count = items.lines.length;
    if (!count) return;
    const hottest = new Float64Array(Math.max(1, Math.floor(height)));
    for (let place = 0; place < count; place++) {
      const row = items.lines[place] as number;
      const y = Math.floor((place / count) * hottest.length);
      if (row >= 0) hottest[y] = Math.max(hottest[y] as number, heat[row] ?? 0);
    }
    const thick = Math.max(1, height / count);
    hottest.forEach((value, y) => {
      if (value > 0.02) painter.rect(2, y, (width - 4) * value, thick, colourOf("stall"));
    });
    const { top, bottom } = onScreen.value;
    const tall = Math.max(6, (bottom - top) * height);
    painter.polyline([0.5, top * height, width - 0.5, top * height], paper("accent"));
    painter.polyline([0.5, top * height + tall, width - 0.5, top * height + tall], paper("accent"));
    painter.rect(0, top * height, width, tall, `${paper("accent")}28`);
    const chosen = selection.value.row === undefined ? -1 : (items.placeOf[selection.value.row] ?? -1);
    if (chosen >= 0) painter.rect(0, (chosen / count) * height - 1, width, 3, paper("accent"));
  };
  const go = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    if (box.height) goTo((event.clientY - box.top) / box.height);
  };
  return (
    <div class="isa-minimap" title="Cost over the whole listing: click or drag to go there">
      <Canvas
        label="Cost over the whole listing"
        paint={paint}
        events={{
          onPointerDown: (event) => {
            (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
            go(event);
          },
          onPointerMove: (event) => {
            if (event.buttons & 1) go(event);
          },
        }}
      />
    </div>
  );
}
