// The rows of the listing on screen: cells, headers of functions, and what the keys do.
import { useMemo, useRef } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { textScale } from "../../draw/painter";
import { rowsOf, selectRow, sourceLineOf } from "../../model/code";
import { traceOverview } from "../../model/document";
import { preview, selection } from "../../model/selection";
import { frontView } from "../../model/view";
import { VirtualList } from "../../widgets/virtual_list";
import { CanvasColumn, type Drawing } from "./canvas_column";
import type { IsaColumn } from "./columns";
import type { Items, Section } from "./items";
import type { Sheet } from "./sheet";
import { CANVAS_MODES } from "./state";

export const ROW_HEIGHT = 20 * textScale();

const sumOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

interface RowsProps {
  sheet: Sheet;
  items: Items;
  sections: Section[];
  columns: IsaColumn[];
  drawing: Drawing;
  hits: number[];
}

export function Rows({ sheet, items, sections, columns, drawing, hits }: RowsProps) {
  const { code, heat, figures } = sheet;
  const names = useMemo(() => new Map(traceOverview().kernels.map(({ name, demangled }) => [name, demangled])), [code]);
  const hitRows = useMemo(() => new Set(hits), [hits]);
  const { row: chosen, lastRow, sourceLine } = selection.value;
  const ofLine = useMemo(() => new Set(sourceLine ? rowsOf(sourceLine).inlined : []), [sourceLine, code]);
  const hovered = preview.value.row;
  const linePointedAt = hovered === undefined ? preview.value.sourceLine : undefined;
  const ofPointer = useMemo(() => new Set(linePointedAt ? rowsOf(linePointedAt).inlined : []), [linePointedAt, code]);
  const hasCanvas = columns[0]?.id === "canvas";
  const template = columns.map(({ id, width }) => (id === "text" ? `minmax(${width}px, 1fr)` : `${width}px`)).join(" ");
  const minWidth = `${columns.reduce((sum, { width }) => sum + width + 6, 8)}px`;
  const whole = useMemo(() => (figures && sumOf(figures.latency)) || 1, [figures]);
  const kernelName = traceOverview().kernels.find(({ kernel }) => kernel === selection.value.kernel)?.name;
  const entry = sections.find(({ name }) => name === kernelName)?.first;
  // Code objects may begin with kernels that never ran: the list opens where something did, until one is chosen.
  const opening = useRef<number | undefined>(undefined);
  if (opening.current === undefined && figures) opening.current = figures.hits.findIndex((count) => count > 0);
  if (chosen !== undefined) opening.current = -1;
  const shown = chosen ?? entry ?? opening.current;
  const at = shown === undefined ? -1 : (items.placeOf[shown] ?? -1);

  const move = (event: KeyboardEvent) => {
    if (event.key === "Enter" && chosen !== undefined) {
      frontView("source");
      event.preventDefault();
      return;
    }
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 };
    const by = steps[event.key];
    if (by === undefined || !items.rowCount) return;
    event.preventDefault();
    let next = Math.min(Math.max(at + by, 0), items.lines.length - 1);
    while ((items.lines[next] ?? 0) < 0 && items.lines[next + Math.sign(by)] !== undefined) next += Math.sign(by);
    const row = items.lines[next];
    if (row !== undefined && row >= 0) selectRow(row);
  };

  const row = (index: number) => {
    const line = items.lines[index] as number;
    if (line < 0) {
      const section = sections[-1 - line] as Section;
      const share = figures ? sumOf(figures.latency.subarray(section.first, section.last + 1)) / whole : 0;
      return (
        <div
          key={index}
          class={`isa-section${section.name === kernelName ? " selected" : ""}`}
          style={{ minWidth, height: `${ROW_HEIGHT}px` }}
          title={section.name}
        >
          <span class="beside" style={{ width: `${hasCanvas ? drawing.width : 0}px` }} />
          {figures ? <b>{percent(share)}</b> : null} {names.get(section.name) ?? section.name}
        </div>
      );
    }
    const isChosen =
      line === chosen || (lastRow !== undefined && chosen !== undefined && line >= chosen && line <= lastRow);
    const classes = [
      "row can-click",
      isChosen ? "selected" : "",
      line === hovered || ofPointer.has(line) ? "hovered" : "",
      ofLine.has(line) ? "of-place" : "",
      hitRows.has(line) ? "found" : "",
      figures && !figures.hits[line] ? "never" : "",
    ];
    return (
      <div
        key={index}
        role="row"
        tabIndex={-1}
        data-row={line}
        class={classes.join(" ")}
        style={{ gridTemplateColumns: template, height: `${ROW_HEIGHT}px`, minWidth, "--heat": heat[line]?.toFixed(3) }}
        onClick={() => selectRow(line)}
        onPointerEnter={() => {
          preview.value = { row: line, sourceLine: sourceLineOf(line) };
        }}
        onPointerLeave={() => {
          preview.value = {};
        }}
      >
        {columns.map((column) => (
          <RowCell key={column.id} column={column} sheet={sheet} row={line} />
        ))}
      </div>
    );
  };
  return (
    <VirtualList
      class="table isa-list"
      label="Instructions"
      count={items.lines.length}
      rowHeight={ROW_HEIGHT}
      reveal={at}
      onKeyDown={move}
      row={row}
      header={
        <div class="row head" role="row" style={{ gridTemplateColumns: template, minWidth }}>
          {columns.map(({ id, title, hint, isText }) => (
            <span key={id} title={hint} data-column={id} class={isText ? "text" : "number"}>
              {title}
            </span>
          ))}
        </div>
      }
      overlay={
        hasCanvas
          ? (first, last) => (
              <CanvasColumn
                drawing={drawing}
                items={items}
                first={first}
                last={last}
                rowHeight={ROW_HEIGHT}
                label={CANVAS_MODES[sheet.canvas][0]}
              />
            )
          : () => null
      }
    />
  );
}

function RowCell({ column, sheet, row }: { column: IsaColumn; sheet: Sheet; row: number }) {
  const value = column.value(sheet, row);
  if (column.id === "source") return <SourceCell text={String(value ?? "")} row={row} />;
  return (
    <span
      role="gridcell"
      data-column={column.id}
      class={column.isText ? "text" : "number"}
      title={column.id === "text" ? about(sheet, row) : column.id === "reasons" ? String(value ?? "") : undefined}
    >
      {column.show ? column.show(sheet, row) : typeof value === "number" ? exact(value) : value}
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
  const name = text.slice(text.lastIndexOf("/") + 1);
  return (
    <span role="gridcell" data-column="source" class="text" title={text}>
      {text ? (
        <button
          type="button"
          class="link"
          onClick={(event) => {
            event.stopPropagation();
            selectRow(row);
            frontView("source");
          }}
        >
          {name}
        </button>
      ) : null}
    </span>
  );
}
