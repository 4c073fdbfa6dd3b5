// A table that sorts, scrolls through any number of rows, follows a selection, and saves itself as CSV.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { amount } from "../base/format";
import { textScale } from "../draw/painter";
import { arranged, arrangementOf, trackOf } from "./column_sizes";
import { MiddleText } from "./middle_text";
import { csv, type Offer } from "./saving";
import { ColumnMenu, type HeaderColumn, type MenuPlace, TableHeader } from "./table_header";
import { VirtualList } from "./virtual_list";
import "./data_table.css";

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
  /** CSS width until the user chooses another: "6em", "1fr", "minmax(12em, 2fr)". */
  width: string;
  /** Where a text without room is cut; names that start alike are told apart by their ends. */
  ellipsis?: "middle";
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

const rowHeight = () => 24 * textScale();

/** Rows that a key moves the selection by. */
const STEPS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 20,
  PageUp: -20,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** Where a key leads from a row; undefined = it is another key, or there is nothing in that direction. */
export function nextPlace({ key }: KeyboardEvent, from: number, count: number): number | undefined {
  const move = STEPS[key];
  if (move === undefined || (from < 0 && key === "ArrowUp")) return undefined;
  const next = Math.min(Math.max(Math.max(from, -1) + move, 0), count - 1);
  return next === from || next < 0 ? undefined : next;
}

/** The order of a table: by a column, or as the rows are given. */
export function useOrder<Row>(columns: Column<Row>[], rows: Row[], sortBy: string | undefined) {
  const order = useSignal<{ name: string | undefined; down: boolean }>({ name: sortBy, down: true });
  const { name, down } = order.value;
  const sorted = useMemo(() => {
    const column = columns.find((c) => c.name === name);
    return column ? [...rows].sort((a, b) => compared(column.value(a), column.value(b)) * (down ? -1 : 1)) : rows;
  }, [rows, columns, name, down]);
  const sort = (by: string) => {
    order.value = { name: by, down: by === name ? !down : true };
  };
  return { sorted, name, down, sort };
}

export function DataTable<Row>({ columns, rows, label, isSelected, onSelect, onHover, sortBy }: Props<Row>) {
  const { sorted, name, down, sort } = useOrder(columns, rows, sortBy);
  const menu = useSignal<MenuPlace | null>(null);
  const numeric = useMemo(() => numericNames(columns, rows), [columns, rows]);
  const arrangement = arrangementOf(label);
  const shown = arranged(columns, arrangement, (column) => column.name);
  const template = shown.map((column) => trackOf(column.name, column.width, arrangement)).join(" ");
  const chosen = isSelected ? sorted.findIndex(isSelected) : -1;
  const heads = (list: Column<Row>[]): HeaderColumn[] =>
    list.map((column) => ({ ...column, isNumber: numeric.has(column.name) }));
  const step = (event: KeyboardEvent) => {
    const next = nextPlace(event, chosen, sorted.length);
    if (next === undefined || !onSelect) return;
    event.preventDefault();
    onSelect(sorted[next] as Row);
  };
  return (
    <>
      <VirtualList
        class="table data-table"
        label={label}
        count={sorted.length}
        columnCount={shown.length}
        rowHeight={rowHeight()}
        reveal={chosen}
        onKeyDown={step}
        header={
          <TableHeader
            table={label}
            columns={heads(shown)}
            template={template}
            sortedBy={name}
            isDown={down}
            onSort={sort}
            menu={menu}
          />
        }
        row={(index) => {
          const row = sorted[index] as Row;
          return (
            <div
              key={index}
              role="row"
              tabIndex={-1}
              aria-selected={onSelect ? index === chosen : undefined}
              class={`row${index === chosen ? " selected" : ""}${onSelect ? " can-click" : ""}`}
              style={{ gridTemplateColumns: template, height: `${rowHeight()}px` }}
              onClick={() => onSelect?.(row)}
              onPointerEnter={() => onHover?.(row)}
              onPointerLeave={() => onHover?.(null)}
            >
              {shown.map((column, place) => {
                const value = column.value(row);
                const isNumber = typeof value === "number";
                const isRight = isNumber || (value === null && numeric.has(column.name));
                return (
                  <span
                    role="gridcell"
                    aria-colindex={place + 1}
                    key={column.name}
                    data-column={column.name}
                    class={`${isRight ? "number" : "text"}${place ? "" : " frozen"}`}
                    title={isNumber ? undefined : String(value ?? "")}
                  >
                    {contentOf(column, row, value)}
                  </span>
                );
              })}
            </div>
          );
        }}
      />
      <ColumnMenu table={label} columns={heads(columns)} shown={heads(shown)} menu={menu} />
    </>
  );
}

/** What stands in a cell. */
export function contentOf<Row>(column: Column<Row>, row: Row, value: Cell): ComponentChildren {
  if (column.show) return column.show(row);
  if (typeof value === "number") return amount(value);
  return column.ellipsis === "middle" ? <MiddleText text={value ?? ""} /> : value;
}

/** Whether a column is one of numbers, judged by its first rows; one without any value is one of numbers not known. */
function isNumeric<Row>(column: Column<Row>, rows: Row[]): boolean {
  const values = rows.slice(0, 50).map((row) => column.value(row));
  return (
    values.some((value) => typeof value === "number") || (values.length > 0 && values.every((value) => value === null))
  );
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
