// Views in docked panels: resizable, movable by their tabs, saved. Lumino does the docking.
import { type Message, MessageLoop } from "@lumino/messaging";
import { DockPanel, Widget } from "@lumino/widgets";
import { effect } from "@preact/signals";
import { h, render } from "preact";
import { type Overview, overview } from "../model/document";
import { settings } from "../model/settings";
import { maximizedView, type View } from "../model/view";
import { Guarded, Nothing } from "../widgets/answered";
import { closedView } from "./closed_view";
import { firstScreen } from "./first_screen";
import { filtered, type Layout } from "./layout";
import { Proportions } from "./proportions";
import { VIEWS } from "./registry";
import { PRESSED, TabBars } from "./tab_bars";
import { WhichTime } from "./time_bar";
import "./dock.css";

class Panel extends Widget {
  private isMounted = false;

  constructor(
    readonly view: View,
    private readonly facts: Overview,
    /** Called before it is closed by its cross. */
    private readonly closing: (panel: Panel) => void,
  ) {
    super();
    this.id = `panel-${view.id}`;
    this.addClass("panel");
    this.node.dataset.view = view.id;
    this.title.label = view.title;
    this.title.caption = view.hint;
    this.title.closable = true;
  }

  protected override onAfterAttach(_: Message): void {
    if (!this.isHidden) this.mount();
  }

  protected override onAfterShow(_: Message): void {
    this.mount();
  }

  /** A view asks its first question when it is first seen: what is behind other tabs costs nothing. */
  private mount(): void {
    if (this.isMounted) return;
    this.isMounted = true;
    const missing = this.view.missing(this.facts);
    const shown = missing ? h(Nothing, null, `Nothing to show: ${missing}.`) : h(this.view.component, null);
    render(h(Guarded, null, h(WhichTime, { time: this.view.time }), shown), this.node);
  }

  protected override onCloseRequest(message: Message): void {
    this.closing(this);
    super.onCloseRequest(message);
  }

  protected override onBeforeDetach(_: Message): void {
    render(null, this.node);
    this.isMounted = false;
  }
}

type Area = DockPanel.ILayoutConfig["main"];

export class Dock {
  private readonly dock: DockPanel;
  /** The panel that was used last. */
  private used: Panel | null = null;

  /** `changed` is called when the user moved, resized, closed or fronted something. */
  constructor(host: HTMLElement, changed: () => void) {
    this.dock = new DockPanel({ spacing: 3, renderer: new TabBars((id) => this.toggleMaximized(id)) });
    this.dock.addClass("dock");
    Widget.attach(this.dock, host);
    const proportions = new Proportions(this.dock);
    this.dock.layoutModified.connect(() => {
      proportions.remember();
      changed();
    });
    new ResizeObserver(() => proportions.resize()).observe(host);
    host.addEventListener("pointerdown", markPressedCross, { capture: true });
    for (const event of ["pointerdown", "focusin"]) host.addEventListener(event, ({ target }) => this.noteUse(target));
    effect(() => {
      void settings.value.textSize; // the bars of tabs have another height
      this.dock.fit();
    });
  }

  private noteUse(target: EventTarget | null): void {
    for (const panel of this.panels()) if (panel.node.contains(target as Node)) this.used = panel;
  }

  /** The view that is looked at: the one with the whole window, the one that was used last, or the one with most room. */
  currentView(): View | null {
    const seen = this.panel(maximizedView.value) ?? (this.used?.isVisible ? this.used : this.largest());
    return seen instanceof Panel ? seen.view : null;
  }

  /** The element of a view that is open. */
  nodeOf(id: string): HTMLElement | null {
    return this.panel(id)?.node ?? null;
  }

  /**
   * One group of tabs over all others, or all in their places again. Nothing is closed or drawn anew: the others are not
   * displayed meanwhile (theme.css), and cost nothing.
   */
  toggleMaximized(id?: string): void {
    const isBack = maximizedView.value !== "";
    for (const node of this.dock.node.querySelectorAll(":scope > .maximized")) node.classList.remove("maximized");
    const view = isBack ? "" : (id ?? this.currentView()?.id ?? "");
    const bar = [...this.dock.tabBars()].find(({ titles }) => titles.some(({ owner }) => idOf(owner) === view));
    if (bar)
      for (const node of [bar.node, ...bar.titles.map(({ owner }) => owner.node)]) node.classList.add("maximized");
    maximizedView.value = bar ? view : "";
    this.dock.node.classList.toggle("has-maximized", maximizedView.value !== "");
  }

  /** Put an open view on screen, unless it is there, or would cover the view that is being used. */
  uncover(id: string): void {
    const panel = this.panel(id);
    if (!panel || panel.isVisible) return;
    const bar = [...this.dock.tabBars()].find(({ titles }) => titles.includes(panel.title));
    if (bar?.currentTitle?.owner !== this.used) this.front(id);
  }

  /** Put a view on screen: its tab comes to the front, or it opens as a tab beside what was opened last. */
  front(id: string): void {
    const view = VIEWS.find((v) => v.id === id);
    const facts = overview.value;
    if (!view || !facts || view.about !== facts.kind) return;
    const open = this.panel(id);
    const panel = open ?? this.newPanel(view, facts);
    if (maximizedView.value && !open?.node.classList.contains("maximized")) this.toggleMaximized();
    if (!open) this.dock.addWidget(panel, { mode: "tab-after", ref: this.largest() });
    this.dock.activateWidget(panel);
  }

  /** A layout without the views that have nothing to show. */
  fitting(layout: Layout): Layout | null {
    const facts = overview.value;
    if (!facts) return null;
    return filtered(layout, (id) => {
      const view = VIEWS.find((candidate) => candidate.id === id);
      return view !== undefined && view.about === facts.kind && !view.missing(facts);
    });
  }

  /** Bring a view to the front if it has something to show. */
  open(id: string): void {
    if (this.fitting({ tabs: [id] })) this.front(id);
  }

  /** Close everything and lay out anew; views with nothing to show stay away. */
  layOut(layout: Layout): void {
    const facts = overview.value;
    if (!facts) return;
    if (maximizedView.value) this.toggleMaximized();
    const old = [...this.dock.widgets()];
    closedView.value = null;
    // A link may name views that only another document has something to show in.
    const shown = this.fitting(layout) ?? this.fitting(firstScreen(facts).layout);
    this.dock.restoreLayout({ main: shown && this.area(shown, facts, new Set()) });
    for (const panel of old) panel.dispose();
  }

  /** Close everything. */
  clear(): void {
    closedView.value = null;
    if (maximizedView.value) this.toggleMaximized();
    for (const panel of [...this.dock.widgets()]) panel.dispose();
  }

  /** What is on screen. */
  layout(): Layout | null {
    return described(this.dock.saveLayout().main);
  }

  /** A layout as Lumino takes it, with new panels; `placed` are the ids of views that have one already: each has one place. */
  private area(layout: Layout, facts: Overview, placed: Set<string>): Area {
    if ("tabs" in layout) {
      const widgets: Panel[] = [];
      for (const id of layout.tabs) {
        const view = VIEWS.find((v) => v.id === id);
        if (!view || placed.has(id)) continue;
        placed.add(id);
        widgets.push(this.newPanel(view, facts));
      }
      if (!widgets.length) return null;
      return { type: "tab-area", widgets, currentIndex: Math.min(layout.front ?? 0, widgets.length - 1) };
    }
    const children = layout.children.map((child) => this.area(child, facts, placed));
    const orientation = layout.split === "row" ? "horizontal" : "vertical";
    const present = children.filter((child) => child !== null);
    return { type: "split-area", orientation, sizes: layout.shares, children: present };
  }

  /** A panel which, when its cross closes it, can be put back where it was (closed_view.tsx). */
  private newPanel(view: View, facts: Overview): Panel {
    return new Panel(view, facts, () => {
      const layout = this.layout();
      closedView.value = layout && { title: view.title, layout };
    });
  }

  private panels(): Panel[] {
    return [...this.dock.widgets()].filter((widget) => widget instanceof Panel);
  }

  private panel(id: string): Panel | undefined {
    return this.panels().find((panel) => panel.view.id === id);
  }

  /** The visible panel with most room. */
  private largest(): Widget | null {
    MessageLoop.flush(); // what was just laid out has its size then
    const area = (widget: Widget) => widget.node.clientWidth * widget.node.clientHeight;
    const visible = [...this.dock.widgets()].filter((widget) => widget.isVisible);
    return visible.sort((a, b) => area(b) - area(a))[0] ?? null;
  }
}

/** A cross closes a view only where it was pressed itself: a tab that comes forward puts its cross under the pointer. */
function markPressedCross(event: PointerEvent): void {
  for (const other of document.querySelectorAll(`.${PRESSED}`)) other.classList.remove(PRESSED);
  (event.target as Element).closest(".lm-TabBar-tabCloseIcon")?.classList.add(PRESSED);
}

const idOf = (widget: Widget) => (widget instanceof Panel ? widget.view.id : "");

/** What Lumino says of its panels as a layout; shares of sizes add up to 1. */
function described(area: Area): Layout | null {
  if (!area) return null;
  if (area.type === "tab-area") {
    const ids = area.widgets.map((widget) => (widget instanceof Panel ? widget.view.id : ""));
    return { tabs: ids.filter(Boolean), front: area.currentIndex };
  }
  const children = area.children.map(described).filter((child) => child !== null);
  const total = area.sizes.reduce((sum, size) => sum + size, 0) || 1;
  const split = area.orientation === "horizontal" ? "row" : "column";
  return { split, shares: area.sizes.map((size) => size / total), children };
}
