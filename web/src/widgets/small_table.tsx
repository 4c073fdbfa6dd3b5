// A table of few rows inside a page that scrolls: all rows are there, up to a bound that it tells.
import { useSignal } from "@preact/signals";
import { exact } from "../base/format";
import { truncation } from "../model/answers";
import { type Column, numericNames } from "./data_table";
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
  const shown = all.value ? rows : rows.slice(0, FIRST_ROWS);
  const numeric = numericNames(columns, rows);
  const left = truncation(shown.length, total);
  return (
    <div class="small-table-box">
      <table class="small-table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                class={numeric.has(column.name) ? "number" : ""}
                data-column={column.name}
                title={column.hint ?? column.title}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, number) => (
            <tr
              key={number}
              class={`${isSelected?.(row) ? "selected" : ""}${onSelect ? " can-click" : ""}`}
              onClick={() => onSelect?.(row)}
            >
              {columns.map((column) => {
                const value = column.value(row);
                const isNumber = typeof value === "number";
                const isRight = isNumber || (value === null && numeric.has(column.name));
                return (
                  <td key={column.name} data-column={column.name} class={isRight ? "number" : "text"}>
                    {column.show ? column.show(row) : isNumber ? exact(value) : value}
                  </td>
                );
              })}
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
