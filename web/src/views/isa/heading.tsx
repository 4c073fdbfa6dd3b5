// The headings of the columns: a click sorts, dragging moves a column, dragging its edge makes it wider.
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { isFrozen, isMovable, moveColumn } from "./columns";
import type { PlacedColumn } from "./rows";
import { changeIsa, isaSettings, NARROWEST } from "./state";

/** Pixels that a press must move to be a drag, and by which a key makes a column wider. */
const DRAG_FROM = 5;
const KEY_STEP = 16;

interface Props {
  columns: PlacedColumn[];
  /** Called while an edge is dragged, with the width so far; null = done. */
  onWidth: (width: { id: string; width: number } | null) => void;
}

/** Largest first, smallest first, the order of the code. */
function sortBy(id: string): void {
  const { sort } = isaSettings.value;
  if (sort?.id !== id) changeIsa({ sort: { id, down: true } });
  else changeIsa({ sort: sort.down ? { id, down: false } : null });
}

function setWidth(id: string, width: number): void {
  changeIsa({ widths: { ...isaSettings.value.widths, [id]: Math.max(NARROWEST, Math.round(width)) } });
}

/** The width that its contents need. */
function forgetWidth(id: string): void {
  const { [id]: _, ...widths } = isaSettings.value.widths;
  changeIsa({ widths });
}

export function Heading({ columns, onWidth }: Props) {
  const row = useRef<HTMLDivElement>(null);
  const drag = useSignal<Drag | null>(null);
  const movable = columns.filter(({ column }) => isMovable(column)).map(({ column }) => column.id);

  /** The column before which something dragged to `x` would stand; null = behind all. */
  const placeAt = (x: number) => {
    const cells = [...(row.current?.querySelectorAll<HTMLElement>("[data-column]") ?? [])];
    const next = cells.find((cell) => {
      const box = cell.getBoundingClientRect();
      return movable.includes(cell.dataset.column ?? "") && x < box.left + box.width / 2;
    });
    return next?.dataset.column ?? null;
  };
  const focus = (id: string | undefined) => {
    // a column that was moved stands in its new place in the next frame
    requestAnimationFrame(() => {
      row.current?.querySelector<HTMLElement>(`[data-column="${id}"] button`)?.focus();
    });
  };
  const onKeyDown = (event: KeyboardEvent, placed: PlacedColumn) => {
    if (!pressHeading(event, placed, { columns, movable, focus })) return;
    event.preventDefault();
    event.stopPropagation();
  };

  const minWidth = columns.reduce((sum, { width }) => sum + width, 0);
  const template = columns.map(({ width }) => `${width}px`).join(" ");
  return (
    <div
      class="row head"
      role="row"
      ref={row}
      style={{ gridTemplateColumns: `${template} 1fr`, minWidth: `${minWidth}px` }}
    >
      {columns.map((placed) => (
        <HeadingCell
          key={placed.column.id}
          placed={placed}
          drag={drag.value}
          onMoveStart={(event) => {
            if (movable.includes(placed.column.id)) dragColumn(event, placed.column.id, drag, placeAt);
          }}
          onWidthStart={(event) => dragEdge(event, placed, onWidth)}
          onKeyDown={(event) => onKeyDown(event, placed)}
        />
      ))}
      <span class={drag.value && drag.value.before === null ? "drop-before" : ""} />
    </div>
  );
}

interface HeadingRow {
  columns: PlacedColumn[];
  /** Ids of the columns that can be moved, in their order. */
  movable: string[];
  focus: (id: string | undefined) => void;
}

/** Arrows lead from heading to heading, with Shift they move the column; + and − change its width. True = it was one of these. */
function pressHeading(event: KeyboardEvent, { column, width }: PlacedColumn, row: HeadingRow): boolean {
  const { columns, movable, focus } = row;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const wider = { "+": KEY_STEP, "-": -KEY_STEP }[event.key];
  if (wider !== undefined) setWidth(column.id, width + wider);
  else if (step === undefined) return false;
  else if (event.shiftKey) {
    const at = movable.indexOf(column.id);
    const canMove = at >= 0 && movable[at + step] !== undefined;
    if (!canMove) return true;
    // to the right it comes before the column that is two further: its neighbour moves to the left of it
    moveColumn(column.id, movable[step > 0 ? at + 2 : at - 1] ?? null);
    focus(column.id);
  } else {
    const ids = columns.map(({ column: { id } }) => id).filter((id) => id !== "canvas"); // which has no button
    focus(ids[ids.indexOf(column.id) + step]);
  }
  return true;
}

/** A column that is being dragged, and the one that it would stand before; null = behind all. */
interface Drag {
  id: string;
  before: string | null;
}

/** Moves a column while the pointer is down on its title; a press that does not move stays a click. */
function dragColumn(
  event: PointerEvent,
  id: string,
  drag: Signal<Drag | null>,
  placeAt: (x: number) => string | null,
): void {
  if (event.button) return;
  const button = event.currentTarget as HTMLElement;
  const from = event.clientX;
  const move = (moved: PointerEvent) => {
    if (!drag.value && Math.abs(moved.clientX - from) < DRAG_FROM) return;
    drag.value = { id, before: placeAt(moved.clientX) };
  };
  const end = (ended: Event) => {
    button.removeEventListener("pointermove", move);
    button.removeEventListener("pointerup", end);
    button.removeEventListener("pointercancel", end);
    const dragged = drag.value;
    drag.value = null;
    if (!dragged || ended.type !== "pointerup") return;
    // The click that follows is part of the drag.
    button.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, once: true });
    moveColumn(id, dragged.before);
  };
  button.setPointerCapture(event.pointerId);
  button.addEventListener("pointermove", move);
  button.addEventListener("pointerup", end);
  button.addEventListener("pointercancel", end);
}

/** Changes the width of a column while its edge is dragged, and stores it at the end. */
function dragEdge(event: PointerEvent, { column: { id }, width }: PlacedColumn, onWidth: Props["onWidth"]): void {
  event.stopPropagation();
  event.preventDefault();
  const edge = event.currentTarget as HTMLElement;
  const from = event.clientX;
  let now = width;
  edge.setPointerCapture(event.pointerId);
  const move = (moved: PointerEvent) => {
    now = Math.max(NARROWEST, width + moved.clientX - from);
    onWidth({ id, width: now });
  };
  const end = () => {
    edge.removeEventListener("pointermove", move);
    edge.removeEventListener("lostpointercapture", end);
    onWidth(null);
    if (now !== width) setWidth(id, now);
  };
  edge.addEventListener("pointermove", move);
  edge.addEventListener("lostpointercapture", end);
}

interface CellProps {
  placed: PlacedColumn;
  drag: Drag | null;
  onMoveStart: (event: PointerEvent) => void;
  onWidthStart: (event: PointerEvent) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function HeadingCell({ placed: { column, left }, drag, onMoveStart, onWidthStart, onKeyDown }: CellProps) {
  const { sort } = isaSettings.value;
  const direction = sort?.id === column.id ? (sort.down ? "descending" : "ascending") : undefined;
  const classes = [
    column.isText ? "text" : "number",
    isFrozen(column) ? "frozen" : "",
    drag?.before === column.id ? "drop-before" : "",
    drag?.id === column.id ? "dragged" : "",
  ];
  return (
    <span
      role="columnheader"
      data-column={column.id}
      aria-sort={direction}
      class={classes.join(" ")}
      style={left === undefined ? undefined : { left: `${left}px` }}
    >
      {column.id === "canvas" ? (
        <span class="unseen">Arrows and bars</span>
      ) : (
        <button
          type="button"
          tabIndex={-1}
          title={`${column.hint}\n\nClick: sort. Drag, or Shift+← →: move. Edge, or + and −: width`}
          onClick={() => sortBy(column.id)}
          onPointerDown={onMoveStart}
          onKeyDown={onKeyDown}
        >
          {column.title}
          {direction ? (direction === "descending" ? " ▾" : " ▴") : ""}
        </button>
      )}
      <span
        class="edge"
        role="separator"
        aria-orientation="vertical"
        title="Drag: width of the column. Double click: as wide as its contents"
        onPointerDown={onWidthStart}
        onDblClick={() => forgetWidth(column.id)}
      />
    </span>
  );
}
