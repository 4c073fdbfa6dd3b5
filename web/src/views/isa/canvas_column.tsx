// The drawing beside the rows: arrows or bars for the rows on screen.
import { useMemo } from "preact/hooks";
import type { Painter } from "../../draw/painter";
import { paper, seriesColour } from "../../draw/palette";
import { preview, selection } from "../../model/selection";
import { Canvas, type Size } from "../../widgets/canvas";
import { type Edge, hitAt, railsWidth, railX, type Trunk, trunksOf } from "./arrow_layout";
import { type Arrow, arrowLines } from "./arrows";
import { type Bars, barLines } from "./bars";
import type { Items } from "./items";
import type { Sheet } from "./sheet";
import { isOneWave } from "./state";

export interface Drawing {
  width: number;
  paint: (painter: Painter, size: Size, first: number, last: number) => void;
  linesAt: (x: number, y: number) => string[];
  arrowAt: (x: number, y: number) => Arrow | null;
}

/** How the column draws itself; places are lines of the list, `y` counts in lines. Arrows take what their rails need. */
export function useDrawing(sheet: Sheet, items: Items, rowHeight: number, most: number, chosen?: number): Drawing {
  const { canvas, bars, code } = sheet;
  const arrows = canvas === "branches" ? sheet.branches : canvas === "waits" ? sheet.waits : [];
  const trunks = useMemo(() => trunksOf(edgesOf(arrows, items)), [arrows, items]);
  const width = chosen ?? (isArrows(canvas) ? Math.min(most, railsWidth(trunks)) : most);
  const text = (row: number) => code.text[row] ?? "";
  const arrowAt = (x: number, y: number) => {
    const hit = bars ? null : hitAt(trunks, width, x, y);
    return hit ? (arrows[hit.edge.arrow] ?? null) : null;
  };
  return {
    width,
    arrowAt,
    linesAt: (x, y) => {
      const row = items.lines[Math.floor(y)] ?? -1;
      if (bars)
        return row >= 0 && bars.of(row).some((stack) => stack.length)
          ? barLines(bars, row, `${row}  ${text(row)}`)
          : [];
      const arrow = arrowAt(x, y);
      return arrow ? arrowLines(arrow, text, isOneWave(sheet.mode)) : [];
    },
    paint: (painter, size, first, last) => {
      if (bars) paintBars(painter, size, bars, items, first, last, rowHeight);
      else paintArrows(painter, size, trunks, arrows, items, first, last, rowHeight);
    },
  };
}

export const isArrows = (canvas: string) => canvas === "waits" || canvas === "branches";

function edgesOf(arrows: Arrow[], items: Items): Edge[] {
  const edges: Edge[] = [];
  arrows.forEach(({ from, to }, arrow) => {
    const [begin, end] = [items.placeOf[from] ?? -1, items.placeOf[to] ?? -1];
    if (begin >= 0 && end >= 0) edges.push({ from: begin, to: end, arrow });
  });
  return edges;
}

function paintArrows(
  painter: Painter,
  size: Size,
  trunks: Trunk[],
  arrows: Arrow[],
  items: Items,
  first: number,
  last: number,
  rowHeight: number,
): void {
  const chosen = [selection.value.row, preview.value.row].map((row) => (row === undefined ? -1 : items.placeOf[row]));
  const isChosen = (place: number) => chosen.includes(place);
  const y = (place: number) => (place - first + 0.5) * rowHeight;
  const most = arrows.reduce((largest, { count }) => Math.max(largest, count || 0), 1);
  const right = size.width - 2;
  const draw = (trunk: Trunk, number: number, isLit: boolean) => {
    const colour = seriesColour(number);
    const x = railX(trunk.rail, size.width);
    const ink = isLit ? colour : `${colour}a0`;
    painter.polyline([x, y(trunk.top), x, y(trunk.bottom)], ink, isLit ? 2.5 : 1);
    for (const edge of trunk.edges) {
      if (edge.from < first - 1 || edge.from > last) continue;
      const weight = Math.log1p(arrows[edge.arrow]?.count || 0) / Math.log1p(most);
      const own = isLit && (isChosen(edge.from) || isChosen(trunk.to));
      painter.polyline([x, y(edge.from), right, y(edge.from)], ink, own ? 2.5 : 0.8 + weight);
      painter.rect(right - 3, y(edge.from) - 2, 4, 4, ink);
    }
    const at = y(trunk.to);
    painter.polyline([x, at, right - 6, at], ink, isLit ? 2.5 : 1.5);
    painter.polygon([right, at, right - 8, at - 4, right - 8, at + 4], colour);
  };
  const highlighted: [Trunk, number][] = [];
  trunks.forEach((trunk, number) => {
    if (trunk.bottom < first - 1 || trunk.top > last) return;
    if (isChosen(trunk.to) || trunk.edges.some((edge) => isChosen(edge.from))) highlighted.push([trunk, number]);
    else draw(trunk, number, false);
  });
  for (const [trunk, number] of highlighted) draw(trunk, number, true);
}

function paintBars(
  painter: Painter,
  size: Size,
  bars: Bars,
  items: Items,
  first: number,
  last: number,
  rowHeight: number,
): void {
  const room = size.width - 8;
  for (let place = first; place < Math.min(last, items.lines.length); place++) {
    const row = items.lines[place] as number;
    if (row < 0 || !bars.scale) continue;
    const stacks = bars.of(row);
    const height = (rowHeight - 4) / stacks.length;
    stacks.forEach((stack, number) => {
      const y = (place - first) * rowHeight + 2 + number * height;
      let x = 4;
      for (const { value, colour } of stack) {
        const width = (value / bars.scale) * room;
        if (width > 0) painter.rect(x, y, Math.max(width, 0.5), height - (stacks.length > 1 ? 1 : 0), colour);
        x += width;
      }
      const spread = ((bars.whisker?.(row) ?? 0) / bars.scale) * room;
      if (spread > 0 && number === 0) {
        const middle = y + height / 2;
        painter.polyline([Math.max(4, x - spread), middle, x + spread, middle], paper("text"), 1);
        painter.polyline([x + spread, middle - 4, x + spread, middle + 4], paper("text"), 1);
      }
    });
  }
}

interface ColumnProps {
  drawing: Drawing;
  items: Items;
  first: number;
  last: number;
  rowHeight: number;
  label: string;
}

/** The part of the column that is on screen; it scrolls with the list, below the rows. */
export function CanvasColumn({ drawing, items, first, last, rowHeight, label }: ColumnProps) {
  const count = Math.max(0, Math.min(last, items.lines.length) - first);
  return (
    <div
      class="isa-canvas"
      style={{ top: `${first * rowHeight}px`, width: `${drawing.width}px`, height: `${count * rowHeight}px` }}
    >
      <Canvas label={label} paint={(painter, size) => drawing.paint(painter, size, first, first + count)} />
    </div>
  );
}
