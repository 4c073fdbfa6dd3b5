// The drawing beside the rows: arrows or bars for the rows on screen, and what is at a place of it. The rails of arrows are
// given in arrow_layout.ts, the parts of bars in bars.ts.
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

/** What stands beside the rows. Places are lines of the list; a `y` counts in lines, so that line 3 reaches from 3 to 4. */
export interface Drawing {
  /** Pixels. */
  width: number;
  /** Draws what stands beside the lines from `first` to before `last`. */
  paint: (painter: Painter, size: Size, first: number, last: number) => void;
  /** What is at a place, in words; none where nothing is. */
  linesAt: (x: number, y: number) => string[];
  arrowAt: (x: number, y: number) => Arrow | null;
}

interface Room {
  /** Pixels of a line. */
  rowHeight: number;
  /** The width that bars have, and arrows at most: they take what their rails need. */
  most: number;
  /** The width that the user chose; undefined = none. */
  chosen: number | undefined;
}

/** How the column draws itself. */
export function useDrawing(sheet: Sheet, items: Items, { rowHeight, most, chosen }: Room): Drawing {
  const { canvas, bars, code } = sheet;
  const arrows = canvas === "branches" ? sheet.branches : canvas === "waits" ? sheet.waits : [];
  const trunks = useMemo(() => trunksOf(edgesOf(arrows, items)), [arrows, items]);
  const width = chosen ?? (isArrows(canvas) ? Math.min(most, railsWidth(trunks)) : most);
  const text = (row: number) => code.text[row] ?? "";
  const arrowAt = (x: number, y: number) => {
    const hit = bars ? null : hitAt(trunks, width, x, y);
    return hit ? (arrows[hit.edge.arrow] ?? null) : null;
  };
  const linesAt = (x: number, y: number) => {
    const row = items.lines[Math.floor(y)] ?? -1;
    if (bars) {
      const hasBar = row >= 0 && bars.of(row).some((stack) => stack.length > 0);
      return hasBar ? barLines(bars, row, `${row}  ${text(row)}`) : [];
    }
    const arrow = arrowAt(x, y);
    return arrow ? arrowLines(arrow, text, isOneWave(sheet.mode)) : [];
  };
  return {
    width,
    arrowAt,
    linesAt,
    paint: (painter, size, first, last) => {
      const shown = { items, first, last, rowHeight };
      if (bars) paintBars(painter, size, bars, shown);
      else paintArrows(painter, size, { trunks, arrows }, shown);
    },
  };
}

export const isArrows = (canvas: string) => canvas === "waits" || canvas === "branches";

/** Arrows between lines of the list; those whose rows are not listed are left out. */
function edgesOf(arrows: Arrow[], items: Items): Edge[] {
  const edges: Edge[] = [];
  arrows.forEach(({ from, to }, arrow) => {
    const [begin, end] = [items.placeOf[from] ?? -1, items.placeOf[to] ?? -1];
    if (begin >= 0 && end >= 0) edges.push({ from: begin, to: end, arrow });
  });
  return edges;
}

/** The lines of the list on screen, from `first` to before `last`. */
interface ShownLines {
  items: Items;
  first: number;
  last: number;
  rowHeight: number;
}

interface Arrows {
  trunks: Trunk[];
  /** What the edges of the trunks name by number. */
  arrows: Arrow[];
}

/** Appended to #rrggbb: trunks without the selected row are less than opaque. */
const FADED = "a0";

/** Trunks that begin or end at the selected row, or at the one under the pointer, are drawn last, over all others. */
function paintArrows(painter: Painter, size: Size, { trunks, arrows }: Arrows, { items, ...shown }: ShownLines): void {
  const marked = [selection.value.row, preview.value.row].map((row) => (row === undefined ? -1 : items.placeOf[row]));
  const isMarked = (place: number) => marked.includes(place);
  const mostTaken = arrows.reduce((largest, { count }) => Math.max(largest, count || 0), 1);
  const picture = { painter, size, isMarked, ...shown };
  /** From 0 to 1, on a scale that lets rare ones be seen; NaN counts, of branches never counted, are 0. */
  const weightOf = (arrow: number) => Math.log1p(arrows[arrow]?.count || 0) / Math.log1p(mostTaken);
  const onTop: { trunk: Trunk; colour: string }[] = [];
  trunks.forEach((trunk, number) => {
    if (trunk.bottom < shown.first - 1 || trunk.top > shown.last) return;
    const colour = seriesColour(number);
    const isLit = isMarked(trunk.to) || trunk.edges.some((edge) => isMarked(edge.from));
    if (isLit) onTop.push({ trunk, colour });
    else paintTrunk(picture, trunk, { colour, isLit: false, weightOf });
  });
  for (const { trunk, colour } of onTop) paintTrunk(picture, trunk, { colour, isLit: true, weightOf });
}

interface TrunkPicture extends Omit<ShownLines, "items"> {
  painter: Painter;
  size: Size;
  isMarked: (place: number) => boolean;
}

interface TrunkLook {
  colour: string;
  /** Whether it leads from or to a marked row. */
  isLit: boolean;
  weightOf: (arrow: number) => number;
}

/** The line in its rail, a tick with a square to every row that an arrow comes from, and the head. */
function paintTrunk(picture: TrunkPicture, trunk: Trunk, { colour, isLit, weightOf }: TrunkLook): void {
  const { painter, size, isMarked, first, last, rowHeight } = picture;
  const y = (place: number) => (place - first + 0.5) * rowHeight;
  const right = size.width - 2;
  const x = railX(trunk.rail, size.width);
  const ink = isLit ? colour : `${colour}${FADED}`;
  painter.polyline([x, y(trunk.top), x, y(trunk.bottom)], ink, isLit ? 2.5 : 1);
  for (const edge of trunk.edges) {
    if (edge.from < first - 1 || edge.from > last) continue;
    const isOwn = isLit && (isMarked(edge.from) || isMarked(trunk.to));
    painter.polyline([x, y(edge.from), right, y(edge.from)], ink, isOwn ? 2.5 : 0.8 + weightOf(edge.arrow));
    painter.rect(right - 3, y(edge.from) - 2, 4, 4, ink);
  }
  const headY = y(trunk.to);
  painter.polyline([x, headY, right - 6, headY], ink, isLit ? 2.5 : 1.5);
  painter.polygon([right, headY, right - 8, headY - 4, right - 8, headY + 4], colour);
}

/** Pixels at both ends of a bar. */
const BAR_MARGIN = 4;

function paintBars(painter: Painter, size: Size, bars: Bars, { items, first, last, rowHeight }: ShownLines): void {
  if (!bars.scale) return;
  const pixelsPerUnit = (size.width - 2 * BAR_MARGIN) / bars.scale;
  for (let place = first; place < Math.min(last, items.lines.length); place++) {
    const row = items.lines[place] as number;
    if (row < 0) continue; // the heading of a function
    const stacks = bars.of(row);
    const height = (rowHeight - 4) / stacks.length;
    stacks.forEach((stack, number) => {
      const y = (place - first) * rowHeight + 2 + number * height;
      let x = BAR_MARGIN;
      for (const { value, colour } of stack) {
        const width = value * pixelsPerUnit;
        if (width > 0) painter.rect(x, y, Math.max(width, 0.5), height - (stacks.length > 1 ? 1 : 0), colour);
        x += width;
      }
      const whisker = (bars.whisker?.(row) ?? 0) * pixelsPerUnit;
      if (whisker > 0 && number === 0) {
        const middle = y + height / 2;
        painter.polyline([Math.max(BAR_MARGIN, x - whisker), middle, x + whisker, middle], paper("text"), 1);
        painter.polyline([x + whisker, middle - 4, x + whisker, middle + 4], paper("text"), 1);
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
