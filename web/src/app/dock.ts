// Views in docked panels: resizable, movable by their tabs, saved. Lumino does the docking.
import type { Message } from "@lumino/messaging";
import { DockPanel, Widget } from "@lumino/widgets";
import { h, render } from "preact";
import { overview } from "../model/document";
import type { View } from "../model/view";
import { Nothing } from "../widgets/answered";
import { FIRST_LAYOUT, VIEWS } from "./registry";

class Panel extends Widget {
  constructor(readonly view: View) {
    super();
    this.addClass("panel");
    this.node.dataset.view = view.id;
    this.title.label = view.title;
    this.title.caption = view.hint;
    this.title.closable = true;
  }

  protected override onAfterAttach(_: Message): void {
    const facts = overview.value;
    if (!facts) return;
    const missing = this.view.missing(facts);
    render(missing ? h(Nothing, null, `Nothing to show: ${missing}.`) : h(this.view.component, null), this.node);
  }

  protected override onBeforeDetach(_: Message): void {
    render(null, this.node);
  }
}

export class Dock {
  private readonly dock = new DockPanel({ spacing: 4 });

  constructor(host: HTMLElement) {
    this.dock.addClass("dock");
    Widget.attach(this.dock, host);
    new ResizeObserver(() => this.dock.update()).observe(host);
  }

  /** Put a view on screen: its tab comes to the front, or it opens beside what is active. */
  open(id: string): void {
    const known = this.panel(id);
    const view = VIEWS.find((v) => v.id === id);
    if (!known && view) this.dock.addWidget(new Panel(view));
    const panel = known ?? this.panel(id);
    if (panel) this.dock.selectWidget(panel);
  }

  /** The views of the first layout that have something to show. */
  layOut(): void {
    const facts = overview.value;
    if (!facts) return;
    for (const panel of [...this.dock.widgets()]) panel.dispose();
    const fronts: Panel[] = [];
    for (const { views, mode, beside, share } of FIRST_LAYOUT[facts.kind]) {
      let front: Panel | null = null;
      for (const id of views) {
        const view = VIEWS.find((v) => v.id === id);
        if (!view || view.missing(facts)) continue;
        const panel = new Panel(view);
        const ref = front ?? (beside === undefined ? undefined : fronts[beside]);
        this.dock.addWidget(panel, ref ? { ref, mode: front ? "tab-after" : (mode ?? "split-right") } : {});
        front ??= panel;
      }
      if (front) fronts.push(front);
      void share;
    }
    for (const panel of fronts) this.dock.selectWidget(panel);
  }

  private panel(id: string): Panel | undefined {
    for (const widget of this.dock.widgets()) if (widget instanceof Panel && widget.view.id === id) return widget;
    return undefined;
  }
}
