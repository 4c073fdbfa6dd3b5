// Views in docked panels: resizable, movable by their tabs, saved. Lumino does the docking.
import type { Message } from "@lumino/messaging";
import { DockPanel, Widget } from "@lumino/widgets";
import { h, render } from "preact";
import { type Overview, overview } from "../model/document";
import type { View } from "../model/view";
import { Guarded, Nothing } from "../widgets/answered";
import { filtered, type Layout } from "./layout";
import { Proportions } from "./proportions";
import { VIEWS } from "./registry";

class Panel extends Widget {
  private isMounted = false;

  constructor(
    readonly view: View,
    private readonly facts: Overview,
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
    render(h(Guarded, null, shown), this.node);
  }

  protected override onBeforeDetach(_: Message): void {
    render(null, this.node);
    this.isMounted = false;
  }
}

type Area = DockPanel.ILayoutConfig["main"];

export class Dock {
  private readonly dock = new DockPanel({ spacing: 3 });

  /** `changed` is called when the user moved, resized, closed or fronted something. */
  constructor(host: HTMLElement, changed: () => void) {
    this.dock.addClass("dock");
    Widget.attach(this.dock, host);
    const proportions = new Proportions(this.dock);
    this.dock.layoutModified.connect(() => {
      proportions.remember();
      changed();
    });
    new ResizeObserver(() => proportions.resize()).observe(host);
  }

  /** Put a view on screen: its tab comes to the front, or it opens as a tab beside what was opened last. */
  front(id: string): void {
    const view = VIEWS.find((v) => v.id === id);
    const facts = overview.value;
    if (!view || !facts || view.about !== facts.kind) return;
    const open = this.panel(id);
    const panel = open ?? new Panel(view, facts);
    if (!open) this.dock.addWidget(panel, { mode: "tab-after", ref: this.largest() });
    this.dock.activateWidget(panel);
  }

  /** Close everything and lay out anew; views with nothing to show stay away. */
  layOut(layout: Layout): void {
    const facts = overview.value;
    if (!facts) return;
    const old = [...this.dock.widgets()];
    const fits = (id: string) =>
      VIEWS.some((view) => view.id === id && view.about === facts.kind && !view.missing(facts));
    const shown = filtered(layout, fits);
    const used = new Set<string>();
    this.dock.restoreLayout({ main: shown && this.area(shown, facts, used) });
    for (const panel of old) panel.dispose();
  }

  /** Close everything. */
  clear(): void {
    for (const panel of [...this.dock.widgets()]) panel.dispose();
  }

  /** What is on screen. */
  layout(): Layout | null {
    return described(this.dock.saveLayout().main);
  }

  private area(layout: Layout, facts: Overview, used: Set<string>): Area {
    if ("tabs" in layout) {
      const widgets: Panel[] = [];
      for (const id of layout.tabs) {
        const view = VIEWS.find((v) => v.id === id);
        if (!view || used.has(id)) continue;
        used.add(id);
        widgets.push(new Panel(view, facts));
      }
      if (!widgets.length) return null;
      return { type: "tab-area", widgets, currentIndex: Math.min(layout.front ?? 0, widgets.length - 1) };
    }
    const children = layout.children.map((child) => this.area(child, facts, used));
    const orientation = layout.split === "row" ? "horizontal" : "vertical";
    const present = children.filter((child) => child !== null);
    return { type: "split-area", orientation, sizes: layout.shares, children: present };
  }

  private panel(id: string): Panel | undefined {
    for (const widget of this.dock.widgets()) if (widget instanceof Panel && widget.view.id === id) return widget;
    return undefined;
  }

  /** The visible panel with most room. */
  private largest(): Widget | null {
    const area = (widget: Widget) => widget.node.clientWidth * widget.node.clientHeight;
    const visible = [...this.dock.widgets()].filter((widget) => widget.isVisible);
    return visible.sort((a, b) => area(b) - area(a))[0] ?? null;
  }
}

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
