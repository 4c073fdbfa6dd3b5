// A table of few rows inside a page that scrolls: all rows are there, up to a bound that it tells.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { exact } from "../base/format";
import { truncation } from "../model/answers";
import { type Column, contentOf, nextPlace, numericNames, useOrder } from "./data_table";
import { describeRows, stepIntoRow, stepToHeader } from "./grid_keys";
import "./small_table.css";

interface Props<Row> {
  columns: Column<Row>[];
  rows: Row[];
  label: string;
  /** How many rows there are, when `rows` is only the first of them. */
  total?: number;
  isSelected?: (row: Row) => boolean;
  onSelect?: (row: Row) => void;
}

/** Rows that are there before the user asks for all. */
const FIRST_ROWS = 12;

export function SmallTable<Row>({ columns, rows, label, total = rows.length, isSelected, onSelect }: Props<Row>) {
  const showsAll = useSignal(false);
  const grid = useRef<HTMLTableElement>(null);
  const { sorted, name, down, sort } = useOrder(columns, rows, undefined);
  const shown = showsAll.value ? sorted : sorted.slice(0, FIRST_ROWS);
  const numeric = numericNames(columns, rows);
  const chosen = isSelected ? shown.findIndex(isSelected) : -1;
  const onKeyDown = (event: KeyboardEvent) => {
    const table = grid.current;
    if (!table) return;
    const next = event.target === table && onSelect ? nextPlace(event, chosen, shown.length) : undefined;
    if (next !== undefined) {
      onSelect?.(shown[next] as Row);
      event.preventDefault();
    } else stepIntoRow(event, table);
    if (!event.defaultPrevented) stepToHeader(event, table);
  };
  useLayoutEffect(() => {
    const body = grid.current?.tBodies[0];
    if (grid.current && body) describeRows(grid.current, body, 2); // the header is row 1
  });
  return (
    <div class="small-table-box">
      <table
        class="small-table"
        aria-label={label}
        role={onSelect ? "grid" : undefined}
        aria-rowcount={total + 1}
        tabIndex={onSelect ? 0 : undefined}
        ref={grid}
        onKeyDown={onKeyDown}
      >
        <thead onKeyDown={(event) => stepInHeader(event, grid.current)}>
          <tr>
            {columns.map((column, place) => (
              <HeaderCell
                key={column.name}
                column={column}
                isNumeric={numeric.has(column.name)}
                sorting={column.name !== name ? "none" : down ? "descending" : "ascending"}
                isTabStop={!onSelect && place === 0}
                onSort={() => sort(column.name)}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, number) => (
            <tr
              key={number}
              class={`${number === chosen ? "selected" : ""}${onSelect ? " can-click" : ""}`}
              aria-selected={onSelect ? number === chosen : undefined}
              onClick={() => onSelect?.(row)}
            >
              {columns.map((column) => (
                <Cell key={column.name} column={column} row={row} isNumeric={numeric.has(column.name)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < total ? (
        <p class="truncated">
          {truncation(shown.length, total)}
          {shown.length < rows.length ? (
            <button type="button" class="link" onClick={() => (showsAll.value = true)}>
              show {exact(rows.length)}
            </button>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

/** Left and right lead from header to header, down and Escape to the table. */
function stepInHeader(event: KeyboardEvent, table: HTMLTableElement | null): void {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, Escape: 0 }[event.key];
  if (step === undefined) return;
  const buttons = [...(table?.querySelectorAll<HTMLElement>("th button") ?? [])];
  (step ? buttons[buttons.indexOf(event.target as HTMLElement) + step] : table)?.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface HeaderProps<Row> {
  column: Column<Row>;
  isNumeric: boolean;
  sorting: "none" | "ascending" | "descending";
  /** Where no row can be selected the first header is the Tab stop of the table, else the table itself. */
  isTabStop: boolean;
  onSort: () => void;
}

function HeaderCell<Row>({ column, isNumeric, sorting, isTabStop, onSort }: HeaderProps<Row>) {
  return (
    <th
      class={isNumeric ? "number" : ""}
      data-column={column.name}
      title={column.hint ?? column.title}
      aria-sort={sorting}
    >
      <button
        type="button"
        tabIndex={isTabStop ? 0 : -1}
        aria-label={column.title ? undefined : column.hint || column.name}
        onClick={onSort}
      >
        {column.title}
        {{ none: "", descending: " ▾", ascending: " ▴" }[sorting]}
      </button>
    </th>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  row: Row;
  /** Whether other rows have numbers in this column. */
  isNumeric: boolean;
}

function Cell<Row>({ column, row, isNumeric }: CellProps<Row>) {
  const value = column.value(row);
  const isNumber = typeof value === "number";
  return (
    <td
      data-column={column.name}
      class={isNumber || (value === null && isNumeric) ? "number" : "text"}
      title={isNumber ? undefined : String(value ?? "")}
    >
      {contentOf(column, row, value)}
    </td>
  );
}
