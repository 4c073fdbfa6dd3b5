// Paints the grid of places: a cell per compute unit or SIMD, coloured by a measure, with names of rows and units around it.
import { letterWidth, type Painter } from "../../draw/painter";
import { inkOn, mixed, paper, seriesColour } from "../../draw/palette";
import type { Size } from "../../widgets/canvas";
import { type Cell, type Grid, type Measure, type Scale, scaleOf, shareOf } from "./grid";

/** The share of the series colour that the lowest value has: it still differs from an empty place. */
const LOWEST = 0.12;

/** The colour of a value by its place on the scale, from 0 to 1. */
export function colourAt(share: number): string {
  return mixed(paper("background"), seriesColour(0), LOWEST + (1 - LOWEST) * share);
}

/** Where the grid stands on the canvas: its left upper corner, and the size of a cell, in pixels. */
interface Shape {
  left: number;
  top: number;
  rowHeight: number;
  columnWidth: number;
}

const HEIGHTS = { least: 6, most: 48 };
const WIDTHS = { least: 2, most: 64 };

function shapeOf({ width, height }: Size, grid: Grid): Shape {
  const left = Math.max(...grid.rows.map((name) => name.length)) * letterWidth() + 14;
  const top = 2 * letterWidth() + 8;
  const columns = Math.max(grid.units.length * grid.parts, 1);
  const rows = Math.max(grid.rows.length, 1);
  return {
    left,
    top,
    rowHeight: Math.min(HEIGHTS.most, Math.max(HEIGHTS.least, (height - top - 4) / rows)),
    columnWidth: Math.min(WIDTHS.most, Math.max(WIDTHS.least, (width - left - 6) / columns)),
  };
}

/** The cell at a pixel; undefined = there is none. */
export function cellAt(grid: Grid, size: Size, x: number, y: number): Cell | undefined {
  const { rowHeight, columnWidth, left, top } = shapeOf(size, grid);
  const [row, column] = [Math.floor((y - top) / rowHeight), Math.floor((x - left) / columnWidth)];
  return grid.cells.find((cell) => cell.row === row && cell.column === column);
}

interface GridPicture {
  grid: Grid;
  measure: Measure;
  /** A value in the few characters that a cell has room for. */
  brief: (value: number) => string;
  isChosen: (cell: Cell) => boolean;
}

export function paintGrid(painter: Painter, size: Size, picture: GridPicture): void {
  const { grid, measure } = picture;
  const shape = shapeOf(size, grid);
  paintUnitNames(painter, grid, shape);
  paintRows(painter, grid, shape);
  const places = grid.cells.map(({ place }) => place);
  const scale = scaleOf(places, measure);
  for (const cell of grid.cells) paintCell(painter, cell, { ...picture, shape, scale });
}

/** Numbers of compute units above their columns: as many as have room, the first with the name of what is counted. */
function paintUnitNames(painter: Painter, grid: Grid, { left, top, columnWidth }: Shape): void {
  const unitWidth = columnWidth * grid.parts;
  const step = Math.max(1, Math.ceil((3 * letterWidth()) / unitWidth));
  const unitName = grid.cells[0]?.place.sa === null ? "CU" : "WGP";
  for (const unit of grid.units.filter((number) => number % step === 0)) {
    const label = unit === 0 ? `${unitName} 0` : String(unit);
    painter.text(left + unit * unitWidth + unitWidth / 2, top / 2, label, paper("faint"), { align: "center" });
  }
}

/** Names of the rows, and a frame around each unit, also of those without waves. */
function paintRows(painter: Painter, grid: Grid, { left, top, rowHeight, columnWidth }: Shape): void {
  const unitWidth = columnWidth * grid.parts;
  grid.rows.forEach((name, row) => {
    const y = top + row * rowHeight;
    painter.text(left - 8, y + rowHeight / 2, name, paper("text"), { align: "right" });
    for (const unit of grid.units) {
      const box = { x: left + unit * unitWidth, y, width: unitWidth - 1, height: rowHeight - 1 };
      paintFrame(painter, box, paper("line"), 1);
    }
  });
}

interface PlacedPicture extends GridPicture {
  shape: Shape;
  scale: Scale;
}

function paintCell(painter: Painter, cell: Cell, picture: PlacedPicture): void {
  const { left, top, rowHeight, columnWidth } = picture.shape;
  const { parts } = picture.grid;
  const { place, row, column } = cell;
  const gap = parts > 1 ? 1.25 : 2;
  // The SIMDs of a unit stand nearer to each other than to the next unit.
  const towardsFirst = parts > 1 ? (column % parts) * (3 / parts) : 0;
  const box = {
    x: left + column * columnWidth - towardsFirst,
    y: top + row * rowHeight,
    width: columnWidth - gap,
    height: rowHeight - 2,
  };
  const value = place[picture.measure];
  if (value !== null) {
    const fill = colourAt(shareOf(value, picture.scale));
    painter.rect(box.x + 0.5, box.y + 0.5, box.width, box.height, fill);
    const text = picture.brief(value);
    const isRoom = box.height > 14 && box.width > text.length * letterWidth() + 4;
    const [middleX, middleY] = [box.x + box.width / 2, box.y + box.height / 2];
    if (isRoom) painter.text(middleX, middleY, text, inkOn(fill), { align: "center" });
  }
  if (picture.isChosen(cell)) paintFrame(painter, box, paper("text"), 2);
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function paintFrame(painter: Painter, { x, y, width, height }: Box, colour: string, line: number): void {
  painter.polyline([x, y, x + width, y, x + width, y + height, x, y + height, x, y], colour, line);
}
