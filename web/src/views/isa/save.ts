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

/** Arrows or bars with the texts of the rows on screen, as a picture to save. */
export function paintListing(
  painter: Painter,
  size: Size,
  sheet: Sheet,
  items: Items,
  drawing: Drawing,
  [first, last]: readonly [number, number],
): void {
  drawing.paint(painter, { width: drawing.width, height: size.height }, first, last);
  for (let place = first; place < Math.min(last, items.lines.length); place++) {
    const row = items.lines[place] as number;
    if (row < 0) continue;
    const y = (place - first + 0.5) * rowHeight();
    const style = { mono: true, size: 11 } as const;
    painter.text(drawing.width + 8, y, `${row}`, paper("faint"), style);
    painter.text(drawing.width + 56, y, sheet.code.text[row] ?? "", paper("text"), { ...style, maxWidth: 440 });
    painter.text(size.width - 8, y, exact(sheet.figures?.stall[row]), paper("text"), { ...style, align: "right" });
  }
}
