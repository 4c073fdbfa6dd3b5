// Keys inside a table: it is one Tab stop, so its header and what can be pressed in its rows are reached by arrow keys.

const PRESSABLE = "button, a[href], input, select, summary, [tabindex='0']";
/** Tables are numbered: the ids of their rows differ. */
let lastList = 0;

const CELLS = /^(gridcell|columnheader|rowheader)$/;

/** Most attributes of most rows stay what they are: to write one makes the browser look at its styles again. */
function put(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** What stands in a row is a cell of it: a view that draws a bar there need not say so. */
function describeCells(row: Element, role: "gridcell" | "columnheader"): void {
  if (row.tagName === "TR") return;
  if (!row.hasAttribute("role")) row.setAttribute("role", "row");
  for (const cell of row.children) if (!CELLS.test(cell.getAttribute("role") ?? "")) cell.setAttribute("role", role);
}

export function describeHeader(header: HTMLElement): void {
  for (const row of header.children) describeCells(row, "columnheader");
}

/** Number the rows that exist, take what is in them out of the Tab order, and tell which of them is selected. */
export function describeRows(grid: HTMLElement, rows: HTMLElement, firstIndex: number): void {
  grid.dataset.list ??= String(++lastList);
  let active = "";
  Array.from(rows.children).forEach((row, place) => {
    describeCells(row, "gridcell");
    put(row, "aria-rowindex", String(firstIndex + place));
    // views mark the selected row by its class
    if (row.classList.contains("can-click") && row.tagName !== "TR")
      put(row, "aria-selected", String(row.classList.contains("selected")));
    for (const item of row.querySelectorAll(PRESSABLE)) put(item, "tabindex", "-1");
    if (row.getAttribute("aria-selected") !== "true") return;
    row.id ||= `row-${grid.dataset.list}-${place}`;
    active = row.id;
  });
  if (active) put(grid, "aria-activedescendant", active);
  else grid.removeAttribute("aria-activedescendant");
}

/** Left and right lead through what can be pressed in the selected row; up and down back to the table. */
export function stepIntoRow(event: KeyboardEvent, grid: HTMLElement): void {
  const target = event.target as HTMLElement;
  const row = target === grid ? grid.querySelector('[aria-selected="true"]') : target.closest('[role="row"], tr');
  if (target !== grid && !row) return;
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) {
    const items = [...(row?.querySelectorAll<HTMLElement>(PRESSABLE) ?? [])];
    const next = items[items.indexOf(target) + step] ?? (step < 0 && target !== grid ? grid : undefined);
    if (!next) return;
    next.focus();
  } else if (target !== grid && /^(ArrowUp|ArrowDown|Escape)$/.test(event.key)) grid.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Up, from the top of a table, leads into its header. */
export function stepToHeader(event: KeyboardEvent, grid: HTMLElement): void {
  if (event.key !== "ArrowUp" || event.target !== grid) return;
  const first = grid.querySelector<HTMLElement>('[role="columnheader"] button, th button');
  if (!first) return;
  first.focus();
  event.preventDefault();
}
