// Layouts with names: those that come with the page, and those of the user, stored by kind of document.
import { computed, signal } from "@preact/signals";
import { kind, overview } from "../model/document";
import { storageTurn, store, stored } from "../model/user_storage";
import type { View } from "../model/view";
import { firstScreen } from "./first_screen";
import { column, type Layout, read, row, tabs } from "./layout";

export interface NamedLayout {
  name: string;
  layout: Layout;
  /** Comes with the page: it cannot be renamed or deleted. */
  isBuiltIn: boolean;
}

/** Those that come with the page, by kind of document and name. */
const BUILT_IN: Record<View["about"], Record<string, Layout>> = {
  trace: {
    "Timelines stacked": row(
      [
        0.7,
        column(
          [0.2, tabs("occupancy")],
          [0.34, tabs("compute_unit")],
          [0.26, tabs("utilization")],
          [0.2, tabs("wave_states")],
        ),
      ],
      [0.3, column([0.6, tabs("isa", "source")], [0.4, tabs("diagnosis", "stalls", "summary")])],
    ),
    Code: row(
      [0.6, tabs("isa", "lanes", "loops")],
      [
        0.4,
        column(
          [0.55, tabs("source", "explorer", "flame")],
          [0.45, tabs("stalls", "waits", "memory_latency", "diagnosis")],
        ),
      ],
    ),
  },
  run: {
    "Timelines stacked": column([0.56, tabs("run_timeline")], [0.22, tabs("busy")], [0.22, tabs("overlap", "gaps")]),
    Kernels: row(
      [0.55, tabs("kernels", "run_summary")],
      [0.45, column([0.5, tabs("run_timeline")], [0.5, tabs("path", "run_diagnosis")])],
    ),
  },
  store: {},
  counters: {
    "Charts stacked": column([0.5, tabs("memory_chart")], [0.5, tabs("roofline", "by_dispatch")]),
    Tables: row(
      [0.3, tabs("counter_kernels", "counter_diagnosis")],
      [0.7, tabs("panels", "raw_counters", "speed_of_light")],
    ),
  },
};

/** The layout that a document opens with. */
export const FIRST_NAME = "Default";
const LONGEST_NAME = 60;
const MOST_LAYOUTS = 50;
/** Grows when the user's layouts change: the storage itself is no signal. */
const changes = signal(0);
const key = () => `layouts.${kind.peek() ?? "trace"}`;

/** What the user has stored for this kind of document, as text by name. */
function storedLayouts(): Record<string, string> {
  const value = stored(key());
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === "string" && read(text)));
}

/** The first layout, then those of the page, then those of the user. */
export const layouts = computed<NamedLayout[]>(() => {
  void storageTurn.value;
  void changes.value;
  const facts = overview.value;
  if (!facts) return [];
  const first = { name: FIRST_NAME, layout: firstScreen(facts).layout, isBuiltIn: true };
  const builtIn = Object.entries(BUILT_IN[facts.kind]).map(([name, layout]) => ({ name, layout, isBuiltIn: true }));
  const ofTheUser = Object.entries(storedLayouts()).map(([name, text]) => ({
    name,
    layout: read(text) ?? tabs(),
    isBuiltIn: false,
  }));
  return [first, ...builtIn, ...ofTheUser];
});

/** Why a name cannot be given; empty = it can. */
export function problemOfName(name: string): string {
  if (!name.trim()) return "A layout needs a name";
  if (name.length > LONGEST_NAME) return `At most ${LONGEST_NAME} letters`;
  if (layouts.peek().some((layout) => layout.isBuiltIn && layout.name === name.trim()))
    return "The page has one of that name";
  return Object.keys(storedLayouts()).length >= MOST_LAYOUTS ? `There are ${MOST_LAYOUTS} already` : "";
}

function storeLayouts(all: Record<string, string>): void {
  store(key(), Object.keys(all).length ? all : null);
  changes.value += 1;
}

export function saveLayout(name: string, text: string): void {
  storeLayouts({ ...storedLayouts(), [name.trim()]: text });
}

export function deleteLayout(name: string): void {
  const { [name]: _, ...rest } = storedLayouts();
  storeLayouts(rest);
}

/** Renames in place: the order stays. */
export function renameLayout(name: string, next: string): void {
  storeLayouts(
    Object.fromEntries(Object.entries(storedLayouts()).map(([old, text]) => [old === name ? next.trim() : old, text])),
  );
}
