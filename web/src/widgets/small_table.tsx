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

const FIRST_ROWS = 12;

export function SmallTable<Row>({ columns, rows, label, total = rows.length, isSelected, onSelect }: Props<Row>) {
  const all = useSignal(false);
  const grid = useRef<HTMLTableElement>(null);
  const { sorted, name, down, sort } = useOrder(columns, rows, undefined);
  const shown = all.value ? sorted : sorted.slice(0, FIRST_ROWS);
  const numeric = numericNames(columns, rows);
  const left = truncation(shown.length, total);
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
  const stepInHeader = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, Escape: 0 }[event.key];
    const buttons = [...(grid.current?.querySelectorAll<HTMLElement>("th button") ?? [])];
    if (step === undefined) return;
    (step ? buttons[buttons.indexOf(event.target as HTMLElement) + step] : grid.current)?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  useLayoutEffect(() => {
    const rowsOnly = grid.current?.tBodies[0];
    if (grid.current && rowsOnly) describeRows(grid.current, rowsOnly, 2);
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
        <thead onKeyDown={stepInHeader}>
          <tr>
            {columns.map((column, place) => (
              <th
                key={column.name}
                class={numeric.has(column.name) ? "number" : ""}
                data-column={column.name}
                title={column.hint ?? column.title}
                aria-sort={column.name === name ? (down ? "descending" : "ascending") : "none"}
              >
                <button
                  type="button"
                  tabIndex={onSelect || place ? -1 : 0}
                  aria-label={column.title ? undefined : column.hint || column.name}
                  onClick={() => sort(column.name)}
                >
                  {column.title}
                  {column.name === name ? (down ? " ▾" : " ▴") : ""}
                </button>
              </th>
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
      {left ? (
        <p class="truncated">
          {left}
          {shown.length < rows.length ? (
            <button type="button" class="link" onClick={() => (all.value = true)}>
              show {exact(rows.length)}
            </button>
          ) : null}
        </p>
      ) : null}
    </div>
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
