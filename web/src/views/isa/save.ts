// The listing as files: CSV of the rows, pictures of what is beside them.
import { exact } from "../../base/format";
import type { Painter } from "../../draw/painter";
import { paper } from "../../draw/palette";
import { lanesNow } from "../../model/lanes";
import type { Size } from "../../widgets/canvas";
import { csv } from "../../widgets/saving";
import type { Drawing } from "./canvas_column";
import { type IsaColumn, orderedColumns } from "./columns";
import type { Items } from "./items";
import { rowHeight } from "./rows";
import type { Sheet } from "./sheet";

/** Rows with all columns, in the mode on screen. */
export function listingCsv(sheet: Sheet, rows: number[]): string {
  const isThere = ({ id, needs }: IsaColumn) => id !== "canvas" && (needs !== "lanes" || lanesNow() !== null);
  const columns = orderedColumns().filter(isThere);
  return csv(
    columns.map(({ name }) => name(sheet.mode)),
    rows.map((row) => columns.map((column) => column.value(sheet, row))),
  );
}

/** Pixels of the texts beside the drawing: number and text of the row, and its stall at the right edge. */
export const SAVED_TEXT_WIDTH = 620;
const NUMBER_LEFT = 8;
const TEXT_LEFT = 56;
const TEXT_WIDTH = 440;

interface Listing {
  sheet: Sheet;
  items: Items;
  drawing: Drawing;
  /** Lines of the list from the first to before the last. */
  lines: readonly [first: number, last: number];
}

/** Arrows or bars with the texts of the rows on screen, as a picture to save. */
export function paintListing(painter: Painter, size: Size, { sheet, items, drawing, lines }: Listing): void {
  const [first, last] = lines;
  const left = drawing.width;
  drawing.paint(painter, { width: drawing.width, height: size.height }, first, last);
  for (let place = first; place < Math.min(last, items.lines.length); place++) {
    const row = items.lines[place] as number;
    if (row < 0) continue; // the heading of a function
    const y = (place - first + 0.5) * rowHeight();
    const style = { mono: true, size: 11 } as const;
    painter.text(left + NUMBER_LEFT, y, `${row}`, paper("faint"), style);
    painter.text(left + TEXT_LEFT, y, sheet.code.text[row] ?? "", paper("text"), { ...style, maxWidth: TEXT_WIDTH });
    painter.text(size.width - 8, y, exact(sheet.figures?.stall[row]), paper("text"), { ...style, align: "right" });
  }
}
