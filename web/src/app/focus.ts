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

/** What waits for the main element of a panel whose answer is on its way; null = nothing does. */
let awaitingMain: MutationObserver | null = null;

/** Focus what the arrow keys of a panel act on, as soon as it is there; of the header its first control. */
function focusZone(zone: HTMLElement, options?: FocusOptions): void {
  awaitingMain?.disconnect();
  awaitingMain = null;
  const main = () => [...zone.querySelectorAll<HTMLElement>(MAIN)].find(isSeen);
  const target = main();
  if (target) {
    target.focus(options);
    return;
  }
  const isPanel = zone.classList.contains("panel");
  zone.tabIndex = -1; // it can have the focus, but is no Tab stop
  const standIn = isPanel ? zone : (stopsIn(zone)[0] ?? zone);
  standIn.focus({ preventScroll: true });
  if (!isPanel) return;
  const started = performance.now();
  const observer = new MutationObserver(() => {
    const isLate = performance.now() - started > PATIENCE_MS;
    const hasMovedOn = document.activeElement !== standIn;
    const arrived = hasMovedOn ? undefined : main();
    arrived?.focus(options);
    if (arrived || isLate || hasMovedOn) observer.disconnect();
  });
  observer.observe(zone, { childList: true, subtree: true });
  awaitingMain = observer;
}

/** The header, and the panels on screen from the top down and from the left to the right. */
function zones(): HTMLElement[] {
  const panels = [...document.querySelectorAll<HTMLElement>(".panel[data-view]")].filter(isSeen);
  const places = panels.map((panel) => ({ panel, box: panel.getBoundingClientRect() }));
  places.sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
  const header = document.querySelector<HTMLElement>(".shell-bar");
  return [...(header ? [header] : []), ...places.map(({ panel }) => panel)];
}

/** Focus the zone after the one that has the focus, or before it (-1), round the ends. */
export function nextZone(step: 1 | -1): void {
  const all = zones();
  const { activeElement } = document;
  const inHeader = activeElement?.closest(".shell") ? 0 : -1;
  const inDock = all.findIndex((zone) => zone.contains(activeElement) || zone === tabbedPanel(activeElement));
  const now = Math.max(inDock, inHeader);
  const fromNowhere = step > 0 ? 0 : all.length - 1;
  const next = all[now < 0 ? fromNowhere : (now + step + all.length) % all.length];
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

/** Arrows lead from control to control of a toolbar, Tab out of it. */
function onToolbarKey(event: KeyboardEvent): void {
  const control = event.target as HTMLElement;
  const bar = control.closest?.<HTMLElement>(TOOLBARS);
  if (!bar || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const target = event.key === "Tab" ? stopBeside(control, bar, event.shiftKey) : controlBeside(control, bar, event);
  if (!target) return;
  event.preventDefault();
  target.focus();
}

/** The Tab stop after a toolbar, or before it: of another toolbar its first control, because each is one stop. */
function stopBeside(control: HTMLElement, bar: HTMLElement, isBack: boolean): HTMLElement | undefined {
  const stops = stopsIn(document.body).filter((item) => item === control || !bar.contains(item));
  const next = stops[stops.indexOf(control) + (isBack ? -1 : 1)];
  const otherBar = next?.closest<HTMLElement>(TOOLBARS);
  return otherBar && isBack ? stopsIn(otherBar)[0] : next;
}

/** The control that an arrow leads to, round the ends; undefined = it is another key, or the control needs it itself. */
function controlBeside(
  control: HTMLElement,
  bar: HTMLElement,
  { key, shiftKey }: KeyboardEvent,
): HTMLElement | undefined {
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (!step || shiftKey || needsArrow(control, step)) return undefined;
  const items = stopsIn(bar);
  return items[(items.indexOf(control) + step + items.length) % items.length];
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
