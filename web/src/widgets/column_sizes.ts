// How the user arranged a table: widths, order and choice of its columns, stored in the settings by the table's label.
import { signal } from "@preact/signals";
import { change, settings } from "../model/settings";

export interface Arrangement {
  /** Pixels by column; a column that is not here has the width that the view gives it. */
  widths: Readonly<Record<string, number>>;
  /** Names in the order of the user; empty = the order of the view. */
  order: readonly string[];
  hidden: readonly string[];
}

export const NARROWEST_PX = 32;
const WIDEST_PX = 4000;
const STEP_PX = 16;

const keyOf = (table: string) => `table.${table}`;
const bounded = (width: number) => Math.round(Math.min(Math.max(width, NARROWEST_PX), WIDEST_PX));

/** The width that a pointer gives a column right now: stored when it lets go. */
const dragged = signal<{ table: string; name: string; width: number } | null>(null);

/** How a table is arranged; what was stored by another version is read as far as it fits. */
export function arrangementOf(table: string): Arrangement {
  const stored = (settings.value[keyOf(table)] ?? {}) as Partial<Record<keyof Arrangement, unknown>>;
  const names = (list: unknown) => (Array.isArray(list) ? list.filter((name) => typeof name === "string") : []);
  const widths: Record<string, number> = {};
  for (const [name, width] of Object.entries(stored.widths ?? {}))
    if (typeof width === "number" && Number.isFinite(width)) widths[name] = bounded(width);
  const live = dragged.value;
  if (live?.table === table) widths[live.name] = live.width;
  return { widths, order: names(stored.order), hidden: names(stored.hidden) };
}

export function rearrange(table: string, parts: Partial<Arrangement>): void {
  change({ [keyOf(table)]: { ...arrangementOf(table), ...parts } });
}

/** Back to what the view gives it. */
export function resetArrangement(table: string): void {
  change({ [keyOf(table)]: undefined });
}

export function isArranged(table: string): boolean {
  return settings.value[keyOf(table)] !== undefined;
}

export function setWidth(table: string, name: string, width: number): void {
  rearrange(table, { widths: { ...arrangementOf(table).widths, [name]: bounded(width) } });
}

/** The columns that are shown, in the order of the user; a column that is new since then follows its neighbour. */
export function arranged<Column>(
  columns: readonly Column[],
  { order, hidden }: Pick<Arrangement, "order" | "hidden">,
  nameOf: (column: Column) => string,
): Column[] {
  const byName = new Map(columns.map((column) => [nameOf(column), column]));
  const names = order.filter((name) => byName.has(name));
  let before: string | undefined;
  for (const name of byName.keys()) {
    if (!names.includes(name)) names.splice(before === undefined ? 0 : names.indexOf(before) + 1, 0, name);
    before = name;
  }
  const shown = names.filter((name) => !hidden.includes(name));
  return (shown.length ? shown : names).map((name) => byName.get(name) as Column);
}

/** A track of `grid-template-columns`: the user's width, else the view's, which never depends on the text of a row. */
export function trackOf(name: string, width: string, { widths }: Pick<Arrangement, "widths">): string {
  const chosen = widths[name];
  if (chosen !== undefined) return `${chosen}px`;
  return /^[\d.]+fr$/.test(width) ? `minmax(4em, ${width})` : width;
}

/** The names with one of them moved to where another stands. */
export function moved(names: readonly string[], name: string, to: string): string[] {
  const [from, target] = [names.indexOf(name), names.indexOf(to)];
  if (from < 0 || target < 0) return [...names];
  const rest = names.filter((other) => other !== name);
  rest.splice(target, 0, name);
  return rest;
}

/** From a press on the border of a column until the pointer lets go: the column follows it. */
export function dragBorder(event: PointerEvent, table: string, name: string, width: number): void {
  const border = event.currentTarget as HTMLElement;
  const from = event.clientX;
  event.preventDefault();
  event.stopPropagation();
  border.setPointerCapture(event.pointerId);
  const follow = (next: PointerEvent) => {
    dragged.value = { table, name, width: bounded(width + next.clientX - from) };
  };
  const stop = () => {
    const last = dragged.value;
    dragged.value = null;
    if (last) setWidth(table, name, last.width);
    border.removeEventListener("pointermove", follow);
    border.removeEventListener("lostpointercapture", stop);
  };
  border.addEventListener("pointermove", follow);
  border.addEventListener("lostpointercapture", stop);
}

/** How much wider a key makes a column: Shift with an arrow; 0 = another key. */
export function stepOf({ key, shiftKey }: KeyboardEvent): number {
  if (!shiftKey) return 0;
  return key === "ArrowRight" ? STEP_PX : key === "ArrowLeft" ? -STEP_PX : 0;
}

/** The room that the widest of these cells needs, whatever room it has. */
export function contentWidth(cells: Iterable<Element>): number {
  const range = document.createRange();
  let widest = 0;
  for (const cell of cells) {
    range.selectNodeContents(cell);
    widest = Math.max(widest, range.getBoundingClientRect().width);
  }
  return Math.ceil(widest) + 4;
}
