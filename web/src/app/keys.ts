// The keyboard map: declared once, listened to once, and listed by `?`. Views may add keys of their own while they exist.
import { signal } from "@preact/signals";
import { kind, type Overview } from "../model/document";
import { clearSelection } from "../model/selection";
import { change, settings } from "../model/settings";
import { pan, showAll, shown, zoom } from "../model/timewindow";
import { frontView } from "../model/view";
import { bookmark } from "./bookmarks";

export interface Key {
  /** As `KeyboardEvent.key` says it. */
  keys: string[];
  does: string;
  run?: () => void;
}

export const helpIsOpen = signal(false);
export const searchIsOpen = signal(false);
export const bookmarksAreOpen = signal(false);

const middle = () => (shown.value.begin + shown.value.end) / 2;
const toggleTheme = () => change({ theme: settings.value.theme === "dark" ? "light" : "dark" });

export const KEYS: Key[] = [
  { keys: ["?"], does: "this list", run: () => toggle(helpIsOpen) },
  { keys: ["/"], does: "search instructions, source, kernels and metrics", run: () => open(searchIsOpen) },
  { keys: ["b"], does: "bookmark what is selected", run: bookmark },
  { keys: ["w", "W"], does: "zoom in", run: () => zoom(0.7, middle()) },
  { keys: ["s", "S"], does: "zoom out", run: () => zoom(1 / 0.7, middle()) },
  { keys: ["a", "A"], does: "earlier", run: () => pan(-0.2) },
  { keys: ["d", "D"], does: "later", run: () => pan(0.2) },
  { keys: ["0", "Home"], does: "show the whole time", run: showAll },
  { keys: ["t"], does: "dark or light theme", run: toggleTheme },
  { keys: ["1"], does: "Explorer (trace), Timeline (run), Speed of light (counters)", run: front(0) },
  { keys: ["2"], does: "Compute unit (trace), Kernels (run, counters)", run: front(1) },
  { keys: ["3"], does: "Instructions (trace), Regions (run), Roofline (counters)", run: front(2) },
  { keys: ["4"], does: "Source (trace), Busy (run), Memory chart (counters)", run: front(3) },
  { keys: ["5"], does: "Diagnosis (trace), Gaps (run), Panels (counters)", run: front(4) },
  { keys: ["Escape"], does: "close the dialog, or clear the selection", run: leave },
];

/** Keys and gestures that views handle themselves: listed, not run from here. */
export const KEYS_OF_VIEWS: { where: string; keys: Key[] }[] = [
  {
    where: "In a timeline",
    keys: [
      { keys: ["wheel"], does: "scroll the lanes; zoom where all lanes fit, and on the axis" },
      { keys: ["Ctrl + wheel"], does: "zoom around the pointer" },
      { keys: ["Shift + wheel"], does: "earlier, later" },
      { keys: ["Alt + wheel", "+", "-"], does: "taller, thinner lanes" },
      { keys: ["drag"], does: "measure, and select a time range" },
      { keys: ["double click", "f"], does: "zoom to a span; f: to the selected range or span" },
      { keys: ["←", "→"], does: "previous, next span of the lane" },
      { keys: ["↑", "↓"], does: "the lane above, below" },
      { keys: ["PageUp", "PageDown"], does: "scroll the lanes" },
    ],
  },
  {
    where: "In a chart",
    keys: [
      { keys: ["wheel"], does: "zoom in time" },
      { keys: ["Shift + wheel"], does: "earlier, later" },
      { keys: ["Ctrl + wheel"], does: "zoom the values" },
      { keys: ["double click"], does: "show everything" },
    ],
  },
  {
    where: "In a roofline",
    keys: [
      { keys: ["wheel"], does: "zoom around the pointer" },
      { keys: ["drag"], does: "move" },
      { keys: ["click"], does: "select that kernel in every view; on empty space: all kernels" },
      { keys: ["double click"], does: "show everything" },
    ],
  },
  {
    where: "In a flame graph",
    keys: [
      { keys: ["wheel", "Shift + wheel"], does: "zoom; scroll" },
      { keys: ["←", "→", "↑", "↓"], does: "the frame to the left, right, above, below" },
      { keys: ["Enter", "Escape"], does: "zoom into a frame; show all" },
    ],
  },
  {
    where: "In tables and listings",
    keys: [
      { keys: ["↑", "↓"], does: "previous, next row" },
      { keys: ["Enter"], does: "from an instruction to its source line" },
      { keys: ["h"], does: "the hottest instruction" },
      { keys: ["[", "]"], does: "previous, next execution of the selected instruction" },
      { keys: ["{", "}"], does: "previous, next iteration of its loop" },
    ],
  },
];

/** The views that the keys 1 to 5 bring to the front. */
const NUMBERED: Record<Overview["kind"], string[]> = {
  trace: ["explorer", "compute_unit", "isa", "source", "diagnosis"],
  run: ["run_timeline", "kernels", "regions", "busy", "gaps"],
  counters: ["speed_of_light", "counter_kernels", "roofline", "memory_chart", "panels"],
};

function front(number: number): () => void {
  return () => frontView(NUMBERED[kind.value ?? "trace"][number] ?? "");
}

function toggle(isOpen: typeof helpIsOpen): void {
  isOpen.value = !isOpen.value;
}

function open(isOpen: typeof helpIsOpen): void {
  isOpen.value = true;
}

function leave(): void {
  const opened = [helpIsOpen, searchIsOpen, bookmarksAreOpen].filter((dialog) => dialog.value);
  for (const dialog of opened) dialog.value = false;
  if (!opened.length) clearSelection();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function listenToKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    const key = KEYS.find((known) => known.keys.includes(event.key));
    if (!key?.run) return;
    event.preventDefault();
    key.run();
  });
}
