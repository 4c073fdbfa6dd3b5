// The rows of the listing on screen: cells, headers of functions, and what the keys do.
import type { ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import { amount, exact } from "../../base/format";
import { textScale } from "../../draw/painter";
import { annotationsOfRow } from "../../model/annotations";
import { type Code, rowsOf, selectRow, sourceLineOf } from "../../model/code";
import { traceOverview } from "../../model/document";
import { preview, type SourceLine, selection } from "../../model/selection";
import { frontView } from "../../model/view";
import { Badges } from "../../widgets/annotations";
import { VirtualList } from "../../widgets/virtual_list";
import { CanvasColumn, type Drawing } from "./canvas_column";
import { hasHeat, type IsaColumn } from "./columns";
import { dragOf, editClass, editKey } from "./edit";
import { heatOf } from "./figures";
import { Heading } from "./heading";
import type { Items, Section } from "./items";
import type { Sheet } from "./sheet";
import { CANVAS_MODES, isaSettings, tip } from "./state";
import { placeName } from "./widths";

export const rowHeight = () => 20 * textScale();
const PAGE_ROWS = 20;

/** A column with its place. */
export interface PlacedColumn {
  column: IsaColumn;
  /** Pixels. */
  width: number;
  /** Of columns that do not scroll sideways: pixels from the left edge of the list. */
  left: number | undefined;
}

/** A column whose edge is being dragged, with the width so far in pixels. */
export interface ColumnWidth {
  id: string;
  width: number;
}

interface RowsProps {
  sheet: Sheet;
  items: Items;
  sections: Section[];
  columns: PlacedColumn[];
  drawing: Drawing;
  hits: number[];
  isFolded: (section: Section) => boolean;
  fold: (section: Section, isFolded: boolean) => void;
  onWidth: (width: ColumnWidth | null) => void;
}

export function Rows(props: RowsProps) {
  const { sheet, items, sections, columns, drawing, hits, isFolded, fold, onWidth } = props;
  const { code } = sheet;
  const names = useMemo(() => new Map(traceOverview().kernels.map(({ name, demangled }) => [name, demangled])), [code]);
  const hitRows = useMemo(() => new Set(hits), [hits]);
  const { row: chosen, sourceLine, kernel } = selection.value;
  const ofLine = useRowsOfLine(sourceLine, code);
  const ofPointer = useRowsOfLine(preview.value.row === undefined ? preview.value.sourceLine : undefined, code);
  const hasCanvas = columns[0]?.column.id === "canvas";
  const look = {
    gridTemplateColumns: `${columns.map(({ width }) => `${width}px`).join(" ")} 1fr`,
    height: `${rowHeight()}px`,
    minWidth: `${columns.reduce((sum, { width }) => sum + width, 0)}px`,
  };
  const kernelName = traceOverview().kernels.find((each) => each.kernel === kernel)?.name;
  const totalOf = useTotals(sheet);
  const heats = useHeats(sheet, columns);
  const shown = chosen ?? sections.find(({ name }) => name === kernelName)?.first;
  const at = shown === undefined ? -1 : (items.placeOf[shown] ?? -1);
  const canvasCell = (index: number) => <CanvasCell key="canvas" drawing={drawing} items={items} index={index} />;
  const heading = (index: number, section: Section) => (
    <SectionRow
      key={index}
      {...{ section, columns, look, fold, totalOf }}
      name={names.get(section.name) ?? (section.name || "[no function]")}
      isSelected={section.name === kernelName}
      isFolded={isFolded(section)}
      canvas={hasCanvas ? canvasCell(index) : null}
    />
  );
  const row = (index: number) => {
    const line = items.lines[index] as number;
    if (line < 0) return heading(index, sections[-1 - line] as Section);
    const marks = [
      line === preview.value.row || ofPointer.has(line) ? "hovered" : "",
      ofLine.has(line) ? "of-place" : "",
      hitRows.has(line) ? "found" : "",
      index % 2 ? "odd" : "",
    ];
    const canvas = hasCanvas ? canvasCell(index) : null;
    return <CodeRow key={index} {...{ sheet, columns, look, heats, marks, canvas }} row={line} />;
  };
  return (
    <VirtualList
      class="table isa-list"
      label="Instructions"
      count={items.lines.length}
      rowHeight={rowHeight()}
      reveal={at}
      onKeyDown={(event) => press(event, props, at)}
      row={row}
      header={<Heading columns={columns} onWidth={onWidth} />}
      overlay={
        hasCanvas
          ? (first, last) => (
              <CanvasColumn
                {...{ drawing, items, first, last }}
                rowHeight={rowHeight()}
                label={CANVAS_MODES[sheet.canvas][0]}
              />
            )
          : () => null
      }
    />
  );
}

/** The rows of code that a source line was compiled to, also by inlining. */
function useRowsOfLine(line: SourceLine | undefined, code: Code): ReadonlySet<number> {
  return useMemo(() => new Set(line ? rowsOf(line).inlined : []), [line, code]);
}

type TotalOf = (column: IsaColumn, section: Section) => number | null;

/** Sums of columns over functions, each computed when it is first on screen. */
function useTotals(sheet: Sheet): TotalOf {
  const totals = useMemo(() => new Map<string, number | null>(), [sheet.figures, sheet.samples, sheet.live]);
  return (column, { first, last }) => {
    const key = `${column.id} ${first}`;
    if (!totals.has(key)) totals.set(key, column.total?.(sheet, first, last) ?? null);
    return totals.get(key) ?? null;
  };
}

type Heats = ReadonlyMap<string, Float64Array>;

/** From 0 to 1, by column and row; none where columns are not shaded. */
function useHeats(sheet: Sheet, columns: PlacedColumn[]): Heats {
  const { columnHeat } = isaSettings.value;
  return useMemo(() => {
    const heatOfColumn = ({ value }: IsaColumn) =>
      heatOf(Float64Array.from({ length: sheet.code.count }, (_, row) => Number(value(sheet, row) ?? 0)));
    const hot = columnHeat ? columns.filter(({ column }) => hasHeat(column)) : [];
    return new Map(hot.map(({ column }) => [column.id, heatOfColumn(column)]));
  }, [columnHeat, sheet.figures, sheet.samples, sheet.live, columns.map(({ column }) => column.id).join()]);
}

/** Keys of the list: to other rows, to the source, open and close a function. `at` is the line of the selected row. */
function press(event: KeyboardEvent, { sections, fold, items }: RowsProps, at: number): void {
  const chosen = selection.value.row;
  if (editKey(event)) {
    event.preventDefault();
    return;
  }
  if (event.key === "Enter" && chosen !== undefined) {
    frontView("source");
    event.preventDefault();
    return;
  }
  const folds = { ArrowLeft: true, ArrowRight: false }[event.key];
  const around = sections.find(({ first, last }) => chosen !== undefined && first <= chosen && chosen <= last);
  if (folds !== undefined && around) {
    event.preventDefault();
    fold(around, folds);
    return;
  }
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: PAGE_ROWS,
    PageUp: -PAGE_ROWS,
    Home: -items.lines.length,
    End: items.lines.length,
  };
  const by = steps[event.key];
  if (by === undefined || !items.rowCount) return;
  event.preventDefault();
  // Headings of functions are skipped: on in the same direction, at the edge of the list back.
  let next = Math.min(Math.max(at + by, 0), items.lines.length - 1);
  while ((items.lines[next] ?? 0) < 0 && items.lines[next + Math.sign(by)] !== undefined) next += Math.sign(by);
  while ((items.lines[next] ?? 0) < 0 && items.lines[next - Math.sign(by)] !== undefined) next -= Math.sign(by);
  const row = items.lines[next];
  if (row !== undefined && row >= 0) selectRow(row);
}

interface LineProps {
  columns: PlacedColumn[];
  look: { gridTemplateColumns: string; height: string; minWidth: string };
  /** The place of the drawing; null = there is none. */
  canvas: ComponentChild;
}

interface SectionProps extends LineProps {
  section: Section;
  name: string;
  isSelected: boolean;
  isFolded: boolean;
  fold: (section: Section, isFolded: boolean) => void;
  totalOf: TotalOf;
}

/** The heading of a function: its name over the frozen columns, and sums under the others. */
function SectionRow({ section, columns, look, canvas, name, isSelected, isFolded, fold, totalOf }: SectionProps) {
  const frozen = columns.filter(({ left }) => left !== undefined);
  return (
    <div role="row" class={`row isa-section${isSelected ? " selected" : ""}`} data-section={section.first} style={look}>
      {canvas}
      {frozen.length ? (
        <span
          role="gridcell"
          class="frozen name"
          style={{ gridColumn: `span ${frozen.length}`, left: `${frozen[0]?.left}px` }}
          title={`${name}: rows ${section.first} to ${section.last}`}
        >
          <button
            type="button"
            class="fold"
            tabIndex={-1}
            aria-expanded={!isFolded}
            onClick={() => fold(section, !isFolded)}
          >
            {isFolded ? "▸" : "▾"} {name} <small>{exact(section.last - section.first + 1)} rows</small>
          </button>
        </span>
      ) : null}
      {columns.slice((canvas ? 1 : 0) + frozen.length).map(({ column }) => {
        const total = totalOf(column, section);
        return (
          <span key={column.id} role="gridcell" data-total={column.id} class="number">
            {total === null ? "" : exact(total)}
          </span>
        );
      })}
      <span />
    </div>
  );
}

interface CodeRowProps extends LineProps {
  sheet: Sheet;
  row: number;
  heats: Heats;
  /** Classes that say what points at the row, and others. */
  marks: string[];
}

function CodeRow({ sheet, row, columns, look, canvas, heats, marks }: CodeRowProps) {
  const { row: chosen = Number.NaN, lastRow = chosen } = selection.value;
  const isSelected = row === chosen || (row >= chosen && row <= lastRow);
  const isNeverRun = sheet.figures !== null && !sheet.figures.hits[row];
  const classes = ["row can-click", isSelected ? "selected" : "", ...marks, isNeverRun ? "never" : "", editClass(row)];
  return (
    <div
      role="row"
      tabIndex={-1}
      data-row={row}
      class={classes.join(" ")}
      style={{ ...look, "--heat": isaSettings.value.columnHeat ? 0 : sheet.heat[row]?.toFixed(3) }}
      onClick={() => selectRow(row)}
      onPointerEnter={() => {
        preview.value = { row, sourceLine: sourceLineOf(row) };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
    >
      {canvas}
      {(canvas ? columns.slice(1) : columns).map((placed) => (
        <RowCell key={placed.column.id} {...{ placed, sheet, row }} heat={heats.get(placed.column.id)?.[row]} />
      ))}
      <span />
    </div>
  );
}

/** The place of the drawing in a row: it is painted below the rows, so that the rows see the pointer. */
function CanvasCell({ drawing, items, index }: { drawing: Drawing; items: Items; index: number }) {
  const place = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left, index + (event.clientY - box.top) / rowHeight()] as const;
  };
  return (
    <span
      role="gridcell"
      data-column="canvas"
      onPointerMove={(event) => {
        const [x, y] = place(event);
        const lines = drawing.linesAt(x, y);
        tip.value = lines.length ? { x: event.clientX, y: event.clientY, lines } : null;
        const arrow = drawing.arrowAt(x, y);
        if (arrow) preview.value = { row: arrow.to };
      }}
      onPointerLeave={() => {
        tip.value = null;
      }}
      onClick={(event) => {
        const arrow = drawing.arrowAt(...place(event));
        if (!arrow) return;
        event.stopPropagation();
        // A click at the wait's end goes to the awaited instruction and back: the other end of the arrow.
        const isAtStart = arrow.from === items.lines[index] || selection.value.row === arrow.from;
        selectRow(isAtStart ? arrow.to : arrow.from);
      }}
    />
  );
}

interface CellProps {
  placed: PlacedColumn;
  sheet: Sheet;
  row: number;
  /** Of its column, from 0 to 1; absent = it is not shaded. */
  heat: number | undefined;
}

function RowCell({ placed, sheet, row, heat }: CellProps) {
  const { column, left } = placed;
  const value = column.value(sheet, row);
  if (column.id === "source") return <SourceCell text={String(value ?? "")} row={row} />;
  return (
    <span
      role="gridcell"
      data-column={column.id}
      {...(column.id === "row" ? dragOf(row) : {})}
      class={`${column.isText ? "text" : "number"}${left === undefined ? "" : " frozen"}`}
      data-heat={heat?.toFixed(3)}
      style={left === undefined ? (heat ? { "--heat": heat.toFixed(3) } : undefined) : { left: `${left}px` }}
      title={column.id === "text" ? about(sheet, row) : column.id === "reasons" ? String(value ?? "") : undefined}
    >
      {column.show ? column.show(sheet, row) : typeof value === "number" ? amount(value) : value}
      {column.id === "text" ? <Badges of={annotationsOfRow.value.get(row)} /> : null}
    </span>
  );
}

/** A row in words: where it is, what its text does not say, and the source lines it was inlined through. */
function about({ code }: Sheet, row: number): string {
  const place = `row ${row}, code object ${code.codeObject[row]}, ${code.address[row]}, ${code.kind[row]}`;
  const unsaid = [
    ["writes", code.implicitWrites[row], "(implicit)"],
    ["reads", code.implicitReads[row], "(implicit)"],
    ["counted by", code.counters[row]],
  ].map((words) => (words[1] ? words.filter(Boolean).join(" ") : ""));
  return [code.text[row], ...unsaid, place, ...(code.chain[row] ?? "").split(" -> ")].filter(Boolean).join("\n");
}

function SourceCell({ text, row }: { text: string; row: number }) {
  return (
    <span role="gridcell" data-column="source" class="text" title={text}>
      {text ? (
        <button
          type="button"
          class="link"
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            selectRow(row);
            frontView("source");
          }}
        >
          {placeName(text)}
        </button>
      ) : null}
    </span>
  );
}
