// The keyboard map: declared once, listened to once, listed by `?` and offered by the palette.
import { signal } from "@preact/signals";
import { isTyping } from "../base/keys";
import { kind, type Overview } from "../model/document";
import { clearSelection } from "../model/selection";
import { toggleTheme } from "../model/settings";
import { fitTime, pan, shown, zoom } from "../model/timewindow";
import { frontView, maximizedView, toggleMaximized } from "../model/view";
import { bookmark } from "./bookmarks";
import { isDialogOpen, nextZone } from "./focus";
import { print } from "./printing";
import { VIEWS } from "./registry";

export interface Key {
  /** As `KeyboardEvent.key` says it, after `Ctrl + ` and `Shift + `. */
  keys: string[];
  does: string;
  run?: () => void;
}

export const helpIsOpen = signal(false);
export const paletteIsOpen = signal(false);
export const bookmarksAreOpen = signal(false);
export const settingsAreOpen = signal(false);

const middle = () => (shown.value.begin + shown.value.end) / 2;

export const KEYS: Key[] = [
  { keys: ["?"], does: "this list", run: () => toggle(helpIsOpen) },
  {
    keys: ["/", "Ctrl + k"],
    does: "find anything: code, lines, waves, times, views, commands",
    run: () => open(paletteIsOpen),
  },
  { keys: ["F6"], does: "go to the next panel", run: () => nextZone(1) },
  { keys: ["Shift + F6"], does: "go to the previous panel", run: () => nextZone(-1) },
  { keys: ["b"], does: "bookmark what is selected", run: bookmark },
  { keys: ["w", "W"], does: "zoom in", run: () => zoom(0.7, middle()) },
  { keys: ["s", "S"], does: "zoom out", run: () => zoom(1 / 0.7, middle()) },
  { keys: ["a", "A"], does: "earlier", run: () => pan(-0.2) },
  { keys: ["d", "D"], does: "later", run: () => pan(0.2) },
  { keys: ["0", "Home"], does: "show the traced waves; again: the whole time", run: fitTime },
  { keys: ["x"], does: "give a view the whole window, and back", run: () => toggleMaximized() },
  { keys: ["o"], does: "settings", run: () => open(settingsAreOpen) },
  { keys: ["p"], does: "print diagnosis, summary and the current view", run: () => void print() },
  { keys: ["t"], does: "dark or light theme", run: toggleTheme },
  numbered(0),
  numbered(1),
  numbered(2),
  numbered(3),
  numbered(4),
  { keys: ["Escape"], does: "clear the selection; in a dialog: close it", run: leave },
];

type Kind = Overview["kind"];

/** Keys and gestures that views handle themselves: listed, not run from here. `of`: documents that have such views. */
export const KEYS_OF_VIEWS: { where: string; of: Kind[]; keys: Key[] }[] = [
  {
    where: "In a timeline",
    of: ["trace", "run"],
    keys: [
      { keys: ["wheel"], does: "scroll the tracks; zoom where all tracks fit, and on the axis" },
      { keys: ["Ctrl + wheel"], does: "zoom around the pointer" },
      { keys: ["Shift + wheel"], does: "earlier, later" },
      { keys: ["Alt + wheel", "+", "-"], does: "taller, thinner tracks" },
      { keys: ["drag"], does: "measure, and select time and tracks; on the axis: time of all tracks" },
      { keys: ["Enter"], does: "list what is inside the selected time and tracks" },
      { keys: ["click on the axis", "m"], does: "set a flag" },
      { keys: [",", "."], does: "previous, next flag" },
      { keys: ["right click on a label", "Shift + F10"], does: "pin, hide, move a track; a drag moves it too" },
      { keys: ["double click", "f"], does: "zoom to a span; f: to the selected range or span" },
      { keys: ["←", "→"], does: "previous, next span of the track" },
      { keys: ["↑", "↓"], does: "the track above, below" },
      { keys: ["PageUp", "PageDown"], does: "scroll the tracks" },
    ],
  },
  {
    where: "In a chart",
    of: ["trace", "run"],
    keys: [
      { keys: ["wheel"], does: "zoom in time" },
      { keys: ["Shift + wheel"], does: "earlier, later" },
      { keys: ["Ctrl + wheel"], does: "zoom the values" },
      { keys: ["double click"], does: "show everything" },
    ],
  },
  {
    where: "In a roofline",
    of: ["counters"],
    keys: [
      { keys: ["wheel"], does: "zoom around the pointer" },
      { keys: ["drag"], does: "move" },
      { keys: ["click"], does: "select that kernel in every view; on empty space: all kernels" },
      { keys: ["double click"], does: "show everything" },
    ],
  },
  {
    where: "In a flame graph",
    of: ["trace", "run"],
    keys: [
      { keys: ["wheel", "Shift + wheel"], does: "zoom; scroll" },
      { keys: ["←", "→", "↑", "↓"], does: "the frame to the left, right, above, below" },
      { keys: ["Enter", "Escape"], does: "zoom into a frame; show all" },
    ],
  },
  {
    where: "In tables and listings",
    of: ["trace", "run", "counters"],
    keys: [
      { keys: ["↑", "↓"], does: "previous, next row; ↑ from the first: the header" },
      { keys: ["←", "→"], does: "links of the row; the headers of columns" },
      { keys: ["Home", "End"], does: "first, last row" },
      { keys: ["Enter"], does: "on a header: sort by it" },
      { keys: ["Shift + ←", "Shift + →"], does: "on a header: narrower, wider column" },
      { keys: ["Ctrl + ←", "Ctrl + →"], does: "on a header: move the column" },
      { keys: ["Shift + F10"], does: "on a header: hide, show and fit columns" },
      { keys: ["drag"], does: "a header moves its column, a border resizes it" },
      { keys: ["double click"], does: "on a border: fit the content" },
    ],
  },
  {
    where: "In toolbars",
    of: ["trace", "run", "counters"],
    keys: [
      { keys: ["←", "→"], does: "previous, next control" },
      { keys: ["Tab"], does: "out of the toolbar" },
    ],
  },
  {
    where: "In Instructions",
    of: ["trace"],
    keys: [
      { keys: ["Enter"], does: "from an instruction to its source line" },
      { keys: ["h", "H"], does: "the hottest instruction, then the next; back" },
      { keys: ["[", "]"], does: "previous, next execution of the selected instruction" },
      { keys: ["{", "}"], does: "previous, next iteration of its loop" },
      { keys: ["Alt + ↑", "Alt + ↓"], does: "what if it stood a place higher, lower; Escape: back" },
    ],
  },
];

/** The views that the keys 1 to 5 bring to the front. */
const NUMBERED: Record<Overview["kind"], string[]> = {
  trace: ["explorer", "compute_unit", "isa", "source", "diagnosis"],
  run: ["run_timeline", "kernels", "regions", "busy", "gaps"],
  store: ["trends", "store_captures"],
  counters: ["speed_of_light", "counter_kernels", "roofline", "memory_chart", "panels"],
};

/** The key of a number: what it does depends on the document. */
function numbered(place: number): Key {
  const view = () => NUMBERED[kind.value ?? "trace"][place] ?? "";
  return {
    keys: [String(place + 1)],
    get does() {
      return `go to ${VIEWS.find(({ id }) => id === view())?.title ?? view()}`;
    },
    run: () => frontView(view()),
  };
}

function toggle(isOpen: typeof helpIsOpen): void {
  isOpen.value = !isOpen.value;
}

function open(isOpen: typeof helpIsOpen): void {
  isOpen.value = true;
}

/** Dialogs close themselves. */
function leave(): void {
  if (maximizedView.value) toggleMaximized();
  else clearSelection();
}

/** A key with what is pressed together with it; letters and signs have Shift in them already. */
function nameOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  return `${ctrlKey || metaKey ? "Ctrl + " : ""}${shiftKey && key.length > 1 ? "Shift + " : ""}${key}`;
}

export function listenToKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || isDialogOpen()) return;
    const name = nameOf(event);
    if (isTyping(event.target) && !/^(Escape|Ctrl \+ .|.*F6)$/.test(name)) return;
    const key = KEYS.find((known) => known.keys.includes(name));
    if (!key?.run) return;
    event.preventDefault();
    key.run();
  });
}
