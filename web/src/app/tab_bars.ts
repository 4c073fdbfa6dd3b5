// Bars of tabs: titles are never cut. Where they do not fit, the bar scrolls and a list has all of them; a double click
// gives a view the whole window.
import { DockPanel, TabBar, type Widget } from "@lumino/widgets";
import { iconElement } from "../widgets/icon";

/** The class of a cross that is pressed. */
export const PRESSED = "is-pressed";

function button(className: string, content: string | SVGElement, name: string, run: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = `quiet ${className}`;
  element.append(content);
  element.title = name;
  element.setAttribute("aria-label", name);
  element.addEventListener("click", run);
  return element;
}

const viewOf = (widget: Widget | undefined) => widget?.node.dataset.view ?? "";

/** Lumino closes a view where a press on its tab ends on what this names: only a cross that was pressed itself. */
const PRESSED_CROSS = `.lm-TabBar-tabCloseIcon.${PRESSED}`;

export class TabBars extends DockPanel.Renderer {
  constructor(private readonly toggleMaximized: (id: string) => void) {
    super();
  }

  override createTabBar(root?: Document | ShadowRoot): TabBar<Widget> {
    const renderer = Object.assign(new TabBar.Renderer(), { closeIconSelector: PRESSED_CROSS });
    const bar = new TabBar<Widget>({ ...(root ? { document: root } : {}), renderer });
    bar.addClass("lm-DockPanel-tabBar");
    const toggle = () => this.toggleMaximized(viewOf(bar.currentTitle?.owner));
    bar.node.addEventListener("dblclick", (event) => {
      if ((event.target as Element).closest(".lm-TabBar-tab")) toggle();
    });
    const list = button("tab-list", iconElement("more"), "All tabs of this group", () => openList(bar, list));
    const full = button(
      "tab-maximize",
      iconElement("maximize"),
      "The whole window for this view, and back (x)",
      toggle,
    );
    bar.node.append(list, full);
    keepFrontSeen(bar.contentNode, list);
    return bar;
  }
}

/** Scrolls a bar so that the tab in front is seen, and shows the button of the list where not all of them fit. */
function keepFrontSeen(tabs: HTMLElement, list: HTMLElement): void {
  const follow = () => {
    list.hidden = tabs.scrollWidth <= tabs.clientWidth + 1;
    const front = tabs.querySelector<HTMLElement>(".lm-mod-current");
    if (!front || list.hidden) return;
    const left = front.offsetLeft - tabs.offsetLeft;
    const right = left + front.offsetWidth;
    if (left < tabs.scrollLeft) tabs.scrollLeft = left;
    else if (right > tabs.scrollLeft + tabs.clientWidth) tabs.scrollLeft = right - tabs.clientWidth;
  };
  new ResizeObserver(follow).observe(tabs);
  new MutationObserver(follow).observe(tabs, { childList: true, subtree: true, attributeFilter: ["class"] });
  tabs.addEventListener("wheel", (event) => {
    tabs.scrollLeft += event.deltaY || event.deltaX;
    event.preventDefault();
  });
}

/** The titles of a bar as a list: the chosen one comes to the front. */
function openList(bar: TabBar<Widget>, from: HTMLElement): void {
  const list = document.createElement("div");
  list.className = "popup";
  list.popover = "auto";
  list.setAttribute("role", "dialog");
  list.setAttribute("aria-label", "All tabs of this group");
  list.dataset.popup = "tabs";
  for (const [number, { label, caption }] of bar.titles.entries()) {
    const entry = button("entry", label, caption || label, () => {
      list.hidePopover();
      bar.currentIndex = number;
    });
    entry.setAttribute("aria-label", label);
    entry.setAttribute("aria-pressed", String(number === bar.currentIndex));
    list.append(entry);
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") event.stopPropagation();
    if (!step) return;
    event.preventDefault();
    const entries = [...list.querySelectorAll("button")];
    const at = entries.indexOf(document.activeElement as HTMLButtonElement);
    entries[(at + step + entries.length) % entries.length]?.focus();
  });
  list.addEventListener("toggle", (event) => {
    if ((event as ToggleEvent).newState === "closed") list.remove();
  });
  document.body.append(list);
  list.showPopover();
  const { right, bottom } = from.getBoundingClientRect();
  list.style.left = `${Math.max(6, right - list.offsetWidth)}px`;
  list.style.top = `${bottom + 2}px`;
  list.style.maxHeight = `${innerHeight - bottom - 8}px`;
  list.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
}
