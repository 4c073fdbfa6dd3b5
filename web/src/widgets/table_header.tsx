// The header of a table: sorts by a click, resizes at its borders, moves by dragging, and has a menu of the columns.
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import {
  arrangementOf,
  contentWidth,
  dragBorder,
  isArranged,
  moved,
  rearrange,
  resetArrangement,
  setWidth,
  stepOf,
} from "./column_sizes";
import "./table_header.css";

export interface HeaderColumn {
  name: string;
  title: string;
  hint?: string | undefined;
  isNumber: boolean;
}

/** Where the menu of the columns is open, and for which of them. */
export interface MenuPlace {
  name: string;
  x: number;
  y: number;
}

interface Props {
  /** The label of the table: what its arrangement is stored by. */
  table: string;
  columns: HeaderColumn[];
  /** `grid-template-columns` of header and rows. */
  template: string;
  sortedBy?: string | undefined;
  isDown?: boolean;
  onSort?: (name: string) => void;
  menu: Signal<MenuPlace | null>;
}

/** The width of the column of a header: a frozen cell reaches over the edge of the table. */
const widthOf = (cell: HTMLElement | null) =>
  cell ? cell.offsetWidth + Number.parseFloat(getComputedStyle(cell).marginLeft) : 0;

/** Pixels that a press must move to be a drag. */
const LEAST_DRAG = 6;

const cellOf = (element: Element) => element.closest<HTMLElement>('[role="columnheader"]');

/** The cells of a column that exist right now, its header included. */
function cellsOf(header: Element, name: string): Element[] {
  const grid = header.closest('[role="grid"]') ?? header;
  return [...grid.querySelectorAll(`[data-column="${CSS.escape(name)}"]`)].map(
    (cell) => cell.querySelector(".head-sort") ?? cell,
  );
}

export function TableHeader({ table, columns, template, sortedBy, isDown = true, onSort, menu }: Props) {
  const row = useRef<HTMLDivElement>(null);
  /** The column that the dragged one would take the place of; empty = nothing is dragged. */
  const drop = useSignal("");
  const names = columns.map((column) => column.name);
  const move = (name: string, to: string) => rearrange(table, { order: moved(names, name, to) });
  const focus = (place: number) => row.current?.querySelectorAll<HTMLElement>(".head-sort")[place]?.focus();
  const fitContent = (name: string) => {
    if (row.current) setWidth(table, name, contentWidth(cellsOf(row.current, name)));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const cell = cellOf(event.target as Element);
    const name = cell?.dataset.column ?? "";
    const at = names.indexOf(name);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const by = stepOf(event);
    if (by && cell) setWidth(table, name, widthOf(cell) + by);
    else if (step && event.ctrlKey) move(name, names[at + step] ?? name);
    else if (step) focus(at + step);
    else if (event.key === "ArrowDown" || event.key === "Escape")
      row.current?.closest<HTMLElement>('[role="grid"]')?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="row head" role="row" aria-rowindex={1} ref={row} style={{ gridTemplateColumns: template }}>
      {columns.map((column, place) => (
        <HeaderCell
          key={column.name}
          column={column}
          place={place}
          sorting={column.name !== sortedBy ? "none" : isDown ? "descending" : "ascending"}
          isDrop={drop.value === column.name}
          menu={menu}
          onKeyDown={onKeyDown}
          onSort={() => onSort?.(column.name)}
          onMoveStart={(event) => dragColumn(event, column.name, { row: row.current, drop, move })}
          onBorder={(event) => dragBorder(event, table, column.name, widthOf(cellOf(event.currentTarget as Element)))}
          onFit={() => fitContent(column.name)}
        />
      ))}
    </div>
  );
}

interface Drag {
  row: HTMLElement | null;
  /** The column that the dragged one would take the place of; empty = nothing is dragged. */
  drop: Signal<string>;
  move: (name: string, to: string) => void;
}

/** A press on a title that moves takes the column along; one that does not is a click. */
function dragColumn(event: PointerEvent, name: string, { row, drop, move }: Drag): void {
  const button = event.currentTarget as HTMLElement;
  if (event.button !== 0) return;
  const from = event.clientX;
  const follow = (next: PointerEvent) => {
    if (Math.abs(next.clientX - from) < LEAST_DRAG && !drop.value) return;
    button.setPointerCapture(event.pointerId);
    const over = document.elementsFromPoint(next.clientX, next.clientY).map(cellOf);
    drop.value = over.find((cell) => cell && row?.contains(cell))?.dataset.column ?? name;
  };
  const stop = () => {
    if (drop.value) {
      if (drop.value !== name) move(name, drop.value);
      // the click that follows is the end of this movement
      const swallow = (click: Event) => click.stopPropagation();
      window.addEventListener("click", swallow, { capture: true });
      setTimeout(() => {
        window.removeEventListener("click", swallow, { capture: true });
        drop.value = "";
      });
    }
    window.removeEventListener("pointermove", follow);
    window.removeEventListener("pointerup", stop);
    window.removeEventListener("pointercancel", stop);
  };
  window.addEventListener("pointermove", follow);
  window.addEventListener("pointerup", stop);
  window.addEventListener("pointercancel", stop);
}

interface CellProps {
  column: HeaderColumn;
  place: number;
  sorting: "none" | "ascending" | "descending";
  isDrop: boolean;
  menu: Signal<MenuPlace | null>;
  onKeyDown: (event: KeyboardEvent) => void;
  onSort: () => void;
  onMoveStart: (event: PointerEvent) => void;
  onBorder: (event: PointerEvent) => void;
  onFit: () => void;
}

function HeaderCell({ column, place, sorting, isDrop, menu, ...on }: CellProps) {
  const open = (event: MouseEvent) => {
    event.preventDefault();
    const { left, bottom } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    menu.value = { name: column.name, x: left, y: bottom };
  };
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      aria-colindex={place + 1}
      aria-sort={sorting}
      class={`head-cell ${column.isNumber ? "number" : "text"}${place ? "" : " frozen"}`}
      data-column={column.name}
      data-drop={isDrop || undefined}
      title={column.hint ?? column.title}
      onContextMenu={open}
      onKeyDown={on.onKeyDown}
    >
      <button
        type="button"
        tabIndex={-1}
        class="head-sort"
        aria-label={column.title ? undefined : column.hint || column.name}
        onPointerDown={on.onMoveStart}
        onClick={on.onSort}
      >
        {column.title}
        {{ none: "", descending: " ▾", ascending: " ▴" }[sorting]}
      </button>
      <button
        type="button"
        tabIndex={-1}
        class="head-more"
        aria-label={`Columns, ${column.title}`}
        title="Columns: hide, show, fit"
        onClick={open}
      >
        ⋮
      </button>
      <span class="column-border" aria-hidden="true" onPointerDown={on.onBorder} onDblClick={on.onFit} />
    </div>
  );
}

interface MenuProps {
  table: string;
  /** All columns, also those that are hidden. */
  columns: HeaderColumn[];
  shown: HeaderColumn[];
  menu: Signal<MenuPlace | null>;
}

/** Which columns there are, and what can be done with the one whose menu it is. Stands beside the table, not in it. */
export function ColumnMenu({ table, columns, shown, menu }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const place = menu.value;
  useLayoutEffect(() => {
    if (!place || !box.current) return;
    box.current.showPopover();
    box.current.querySelector<HTMLElement>("button")?.focus();
  }, [place]);
  if (!place) return null;
  const title = columns.find((column) => column.name === place.name)?.title ?? "";
  const header = () =>
    box.current?.parentElement?.querySelector(`[role=columnheader][data-column="${CSS.escape(place.name)}"]`);
  const close = () => {
    const cell = header(); // the menu is not there any more when the header gets the focus
    menu.value = null;
    cell?.querySelector<HTMLElement>(".head-sort")?.focus();
  };
  const andClose = (action: () => void) => () => {
    action();
    close();
  };
  const fitContent = () => {
    const cell = header();
    if (cell) setWidth(table, place.name, contentWidth(cellsOf(cell, place.name)));
  };
  return (
    <div
      ref={box}
      class="column-menu"
      role="menu"
      aria-label={`Columns of ${table}`}
      popover="auto"
      style={{ left: `${Math.min(place.x, innerWidth - 240)}px`, top: `${Math.min(place.y, innerHeight - 120)}px` }}
      onToggle={(event) => {
        if (event.newState === "closed") menu.value = null;
      }}
      onKeyDown={(event) => stepInMenu(event, box.current, close)}
    >
      <MenuAction isOff={shown.length < 2} run={andClose(() => toggleColumn(table, place.name))}>
        Hide {title}
      </MenuAction>
      <MenuAction run={andClose(fitContent)}>Fit the content</MenuAction>
      <MenuAction isOff={!isArranged(table)} run={andClose(() => resetArrangement(table))}>
        All columns as they were
      </MenuAction>
      <div role="separator" />
      <ColumnChecks table={table} columns={columns} />
    </div>
  );
}

/** Up and down lead through the menu, round its ends; Escape and Tab close it. */
function stepInMenu(event: KeyboardEvent, box: HTMLElement | null, close: () => void): void {
  const items = [...(box?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (step) items[(at + step + items.length) % items.length]?.focus();
  else if (event.key === "Escape" || event.key === "Tab") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Hides a column, or shows it again. */
function toggleColumn(table: string, name: string): void {
  const { hidden } = arrangementOf(table);
  rearrange(table, { hidden: hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name] });
}

interface ActionProps {
  isOff?: boolean;
  run: () => void;
  children: ComponentChildren;
}

function MenuAction({ isOff = false, run, children }: ActionProps) {
  return (
    <button type="button" role="menuitem" disabled={isOff} onClick={run}>
      {children}
    </button>
  );
}

function ColumnChecks({ table, columns }: Pick<MenuProps, "table" | "columns">) {
  const { hidden } = arrangementOf(table);
  return (
    <>
      {columns.map(({ name, title, hint }) => (
        <button
          key={name}
          type="button"
          role="menuitemcheckbox"
          aria-checked={!hidden.includes(name)}
          title={hint}
          onClick={() => toggleColumn(table, name)}
        >
          <span aria-hidden="true">{hidden.includes(name) ? "" : "✓"}</span>
          {title}
        </button>
      ))}
    </>
  );
}
