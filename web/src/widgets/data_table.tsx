// A table that sorts, scrolls through any number of rows, follows a selection, and saves itself as CSV.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { exact } from "../base/format";
import { textScale } from "../draw/painter";
import { csv, type Offer } from "./saving";
import { VirtualList } from "./virtual_list";

export type Cell = string | number | null | undefined;

export interface Column<Row> {
  /** Name in the CSV, with its unit: that of the answer. */
  name: string;
  title: string;
  /** Definition, shown as a tooltip of the header. */
  hint?: string;
  value: (row: Row) => Cell;
  /** How a cell looks; default: numbers exact and to the right, texts as they are. */
  show?: (row: Row) => ComponentChildren;
  /** CSS width: "6em", "1fr", "minmax(12em, 2fr)". */
  width: string;
}

interface Props<Row> {
  columns: Column<Row>[];
  rows: Row[];
  label: string;
  isSelected?: (row: Row) => boolean;
  onSelect?: (row: Row) => void;
  onHover?: (row: Row | null) => void;
  /** Column to sort by at first, largest first; absent = the order of `rows`. */
  sortBy?: string;
}

const ROW_HEIGHT = 24 * textScale();

export function DataTable<Row>({ columns, rows, label, isSelected, onSelect, onHover, sortBy }: Props<Row>) {
  const order = useSignal<{ name: string | undefined; down: boolean }>({ name: sortBy, down: true });
  const { name, down } = order.value;
  const sorted = useMemo(() => {
    const column = columns.find((c) => c.name === name);
    return column ? [...rows].sort((a, b) => compared(column.value(a), column.value(b)) * (down ? -1 : 1)) : rows;
  }, [rows, columns, name, down]);
  const numeric = useMemo(() => numericNames(columns, rows), [columns, rows]);
  const template = columns.map((column) => column.width).join(" ");
  const chosen = isSelected ? sorted.findIndex(isSelected) : -1;
  const step = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = move === undefined ? undefined : sorted[chosen + move];
    if (next === undefined || !onSelect) return;
    event.preventDefault();
    onSelect(next);
  };
  const header = (
    <div class="row head" role="row" style={{ gridTemplateColumns: template }}>
      {columns.map((column) => (
        <button
          type="button"
          key={column.name}
          class={numeric.has(column.name) ? "number" : "text"}
          title={column.hint ?? column.title}
          data-column={column.name}
          onClick={() => {
            order.value = { name: column.name, down: column.name === name ? !down : true };
          }}
        >
          {column.title}
          {column.name === name ? (down ? " ▾" : " ▴") : ""}
        </button>
      ))}
    </div>
  );
  return (
    <VirtualList
      class="table"
      label={label}
      count={sorted.length}
      rowHeight={ROW_HEIGHT}
      header={header}
      reveal={chosen}
      onKeyDown={step}
      row={(index) => {
        const row = sorted[index] as Row;
        return (
          <div
            key={index}
            role="row"
            tabIndex={-1}
            class={`row${index === chosen ? " selected" : ""}${onSelect ? " can-click" : ""}`}
            style={{ gridTemplateColumns: template, height: `${ROW_HEIGHT}px` }}
            onClick={() => onSelect?.(row)}
            onPointerEnter={() => onHover?.(row)}
            onPointerLeave={() => onHover?.(null)}
          >
            {columns.map((column) => {
              const value = column.value(row);
              const isNumber = typeof value === "number";
              const isRight = isNumber || (value === null && numeric.has(column.name));
              return (
                <span
                  role="gridcell"
                  key={column.name}
                  data-column={column.name}
                  class={isRight ? "number" : "text"}
                  title={isNumber ? undefined : String(value ?? "")}
                >
                  {column.show ? column.show(row) : isNumber ? exact(value) : value}
                </span>
              );
            })}
          </div>
        );
      }}
    />
  );
}

/** Whether a column is one of numbers, judged by its first rows. */
function isNumeric<Row>(column: Column<Row>, rows: Row[]): boolean {
  return rows.slice(0, 50).some((row) => typeof column.value(row) === "number");
}

export function numericNames<Row>(columns: Column<Row>[], rows: Row[]): ReadonlySet<string> {
  return new Set(columns.filter((column) => isNumeric(column, rows)).map((column) => column.name));
}

function compared(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return 1;
  if (typeof b === "number") return -1;
  return String(a ?? "").localeCompare(String(b ?? ""));
}

/** All rows as CSV, in the order given. */
export function tableOffer<Row>(columns: Column<Row>[], rows: () => Row[]): Offer {
  const header = columns.map((column) => column.name);
  const lines = () => rows().map((row) => columns.map((column) => column.value(row)));
  return { format: "csv", make: () => csv(header, lines()) };
}
