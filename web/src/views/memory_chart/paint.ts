// Paints the memory chart on a canvas or SVG painter, for saving; on screen it is picture.tsx.
import type { Painter } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import {
  arrowHead,
  type ChartLayout,
  filledPart,
  HEAD,
  LINE,
  type PlacedBlock,
  type PlacedValue,
  type PlacedWire,
} from "./layout";
import { COLOURS, flowText, valueText } from "./words";

/** Pixels around the saved picture. */
export const MARGIN = 12;

export function paintMemoryChart(painter: Painter, layout: ChartLayout): void {
  for (const wire of layout.wires) paintWire(painter, wire);
  for (const placed of layout.blocks) paintBlock(painter, placed);
}

/** A coordinate of the layout in the picture. */
const inset = (coordinate: number) => coordinate + MARGIN;

function paintWire(painter: Painter, wire: PlacedWire): void {
  painter.polyline(wire.points.map(inset), paper("faint"), wire.thickness ?? 1);
  painter.polygon(arrowHead(wire).map(inset), paper("faint"));
  wire.flows.forEach((flow, n) => {
    painter.text(inset(wire.x), inset(wire.y + n * LINE), flowText(flow), paper("text"));
  });
}

function paintBlock(painter: Painter, { block, x, y, width, height, values }: PlacedBlock): void {
  const [right, bottom] = [x + width, y + height];
  painter.rect(inset(x), inset(y), width, height, paper("raised"));
  painter.polyline([x, y, right, y, right, bottom, x, bottom, x, y].map(inset), paper("line"), 1);
  painter.text(inset(x) + 9, inset(y) + HEAD / 2, block.title, paper("text"), { bold: true, size: 12 });
  for (const value of values) paintValue(painter, value);
}

/** A number with its name: under a rate a bar of its share of the peak, beside other numbers a strip of their colour. */
function paintValue(painter: Painter, { value, x, y, width }: PlacedValue): void {
  const meaning = COLOURS[value.heat];
  const share = value.is_rate ? value.peak_share : null;
  if (share !== null) {
    painter.rect(inset(x), inset(y) + LINE / 2 - 3, filledPart(width, share), 3, colourOf(meaning || "hidden"));
  } else if (meaning) painter.rect(inset(x) - 5, inset(y) - LINE / 2 + 2, 3, LINE - 4, colourOf(meaning));
  painter.text(inset(x), inset(y), value.label, paper("faint"));
  painter.text(inset(x) + width, inset(y), valueText(value), paper("text"), { align: "right" });
}
