// Where the keyboard is: views that come to the front take the focus, F6 leads from panel to panel, a toolbar is one stop.

const FOCUSABLE = "button, input, select, textarea, a[href], summary, [tabindex]";
/** What the arrow keys of a view act on. */
const MAIN = "[data-focus], [role='grid'][tabindex='0'], [role='application'][tabindex='0']";
/** Answers may be on their way: as long as this, the view gets the focus when they are here. */
const PATIENCE_MS = 5000;

/** On screen, and not only a reserved place. */
export const isSeen = (element: HTMLElement) =>
  element.checkVisibility({ visibilityProperty: true }) && !element.matches(":disabled");

function stopsIn(zone: HTMLElement): HTMLElement[] {
  return [...zone.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((item) => item.tabIndex >= 0 && isSeen(item));
}

export function isDialogOpen(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

/** How the last thing was done: who steps through a list, or points at it, stays in it while other views come to the front. */
let isStepping = false;

function mayMove(): boolean {
  const inList = document.activeElement?.closest("[role='grid'], [role='application'], [role='tree']");
  return !(isStepping && inList);
}

/** Put the focus into a view that came to the front, unless somebody is stepping through another one. */
export function focusView(id: string): void {
  const panel = document.getElementById(`panel-${id}`);
  if (panel && mayMove()) focusZone(panel, { preventScroll: true }); // what stands above its list is read first
}

let waiting: MutationObserver | null = null;

function focusZone(zone: HTMLElement, options?: FocusOptions): void {
  waiting?.disconnect();
  waiting = null;
  const main = () => [...zone.querySelectorAll<HTMLElement>(MAIN)].find(isSeen);
  const target = main();
  if (target) {
    target.focus(options);
    return;
  }
  zone.tabIndex = -1;
  const first = zone.classList.contains("panel") ? zone : (stopsIn(zone)[0] ?? zone);
  first.focus({ preventScroll: true });
  const started = performance.now();
  const observer = new MutationObserver(() => {
    const isLate = performance.now() - started > PATIENCE_MS;
    const arrived = document.activeElement === first ? main() : undefined;
    if (arrived) arrived.focus(options);
    if (arrived || isLate || document.activeElement !== first) observer.disconnect();
  });
  if (zone.classList.contains("panel")) observer.observe(zone, { childList: true, subtree: true });
  waiting = observer;
}

/** The header, and the panels on screen from the left to the right and from the top down. */
function zones(): HTMLElement[] {
  const panels = [...document.querySelectorAll<HTMLElement>(".panel[data-view]")].filter(isSeen);
  const at = new Map(panels.map((panel) => [panel, panel.getBoundingClientRect()]));
  const place = (panel: HTMLElement) => at.get(panel) as DOMRect;
  panels.sort((a, b) => place(a).top - place(b).top || place(a).left - place(b).left);
  const header = document.querySelector<HTMLElement>(".shell-bar");
  return header ? [header, ...panels] : panels;
}

/** The zone after the one that has the focus, or before it (-1). */
export function nextZone(step: 1 | -1): void {
  const all = zones();
  const { activeElement } = document;
  const inHeader = activeElement?.closest(".shell") ? 0 : -1;
  const inDock = all.findIndex((zone) => zone.contains(activeElement) || zone === tabbedPanel(activeElement));
  const now = Math.max(inDock, inHeader);
  const next = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : (now + step + all.length) % all.length];
  if (next) focusZone(next);
}

/** The panel in front of the group of tabs that a tab belongs to. */
function tabbedPanel(element: Element | null): Element | null {
  const tab = element?.closest(".lm-TabBar")?.querySelector(".lm-TabBar-tab.lm-mod-current");
  return tab?.id ? document.querySelector(`.panel[aria-labelledby="${CSS.escape(tab.id)}"]`) : null;
}

const TOOLBARS = ".toolbar, .shell-bar, .time-bar";

/** Whether an arrow key has a meaning of its own in a control: the caret of a text that is not at its end. */
function needsArrow(control: HTMLElement, step: 1 | -1): boolean {
  if (!(control instanceof HTMLInputElement) || !/^(text|search|number)$/.test(control.type)) return false;
  const [from, to] = [control.selectionStart, control.selectionEnd];
  if (from === null || from !== to) return true;
  return step > 0 ? from < control.value.length : from > 0;
}

function onToolbarKey(event: KeyboardEvent): void {
  const control = event.target as HTMLElement;
  const bar = control.closest?.<HTMLElement>(TOOLBARS);
  if (!bar || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const items = stopsIn(bar);
  if (event.key === "Tab") {
    // one stop: what comes next is outside
    const all = stopsIn(document.body).filter((item) => item === control || !bar.contains(item));
    const next = all[all.indexOf(control) + (event.shiftKey ? -1 : 1)];
    const before = next?.closest<HTMLElement>(TOOLBARS);
    const target = before && event.shiftKey ? stopsIn(before)[0] : next;
    if (!target) return;
    event.preventDefault();
    target.focus();
    return;
  }
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step || event.shiftKey || needsArrow(control, step)) return;
  const next = items[(items.indexOf(control) + step + items.length) % items.length];
  event.preventDefault();
  next?.focus();
}

export function listenToFocus(): void {
  window.addEventListener(
    "keydown",
    ({ key }) => {
      isStepping = /^(Arrow|Page|Home|End)/.test(key);
    },
    { capture: true },
  );
  window.addEventListener(
    "pointerdown",
    ({ target }) => {
      isStepping = target instanceof Element && target.closest("[role='row'], [role='application'], tr") !== null;
    },
    { capture: true },
  );
  window.addEventListener("keydown", onToolbarKey);
  window.addEventListener("focusin", ({ target }) => {
    const bar = target instanceof Element ? target.closest(TOOLBARS) : null;
    if (bar && !bar.hasAttribute("role")) bar.setAttribute("role", "toolbar");
  });
}
