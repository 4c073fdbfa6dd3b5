// Paints the memory chart on a canvas or SVG painter, for saving; on screen it is picture.tsx.
import type { Painter } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import { type ChartLayout, HEAD, LINE } from "./layout";
import { COLOURS, flowText, valueText } from "./words";

export const MARGIN = 12;

export function paintMemoryChart(painter: Painter, layout: ChartLayout): void {
  const at = (n: number) => n + MARGIN;
  for (const wire of layout.wires) {
    const width = wire.thickness ?? 1;
    painter.polyline(wire.points.map(at), paper("faint"), width);
    const [x, y, half] = [at(wire.points.at(-2) ?? 0), at(wire.points.at(-1) ?? 0), Math.max(4, width / 2 + 2)];
    painter.polygon([x, y, x - 7, y - half, x - 7, y + half], paper("faint"));
    wire.flows.forEach((flow, n) => {
      painter.text(at(wire.x), at(wire.y + n * LINE), flowText(flow), paper("text"));
    });
  }
  for (const { block, x, y, width, height, values } of layout.blocks) {
    painter.rect(at(x), at(y), width, height, paper("raised"));
    const [right, bottom] = [x + width, y + height];
    painter.polyline([x, y, right, y, right, bottom, x, bottom, x, y].map(at), paper("line"), 1);
    painter.text(at(x) + 9, at(y) + HEAD / 2, block.title, paper("text"), { bold: true, size: 12 });
    for (const { value, x: left, y: middle, width: wide } of values) {
      const meaning = COLOURS[value.heat];
      const share = value.is_rate ? value.peak_share : null;
      if (share !== null) {
        const part = wide * Math.min(Math.max(share / 100, 0), 1);
        painter.rect(at(left), at(middle) + LINE / 2 - 3, part, 3, colourOf(meaning || "hidden"));
      } else if (meaning) painter.rect(at(left) - 5, at(middle) - LINE / 2 + 2, 3, LINE - 4, colourOf(meaning));
      painter.text(at(left), at(middle), value.label, paper("faint"));
      painter.text(at(left) + wide, at(middle), valueText(value), paper("text"), { align: "right" });
    }
  }
}
