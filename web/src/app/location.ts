// The URL holds what is on screen: document, selection, time, views. Selections make entries in the history, zooming and
// moving panels do not.
import { effect } from "@preact/signals";
import { startPlace, tellPlace } from "../data/host";
import { baseline, readBaseline, writtenBaseline } from "../model/baseline";
import { current } from "../model/document";
import { onSelect, type Range, type Selection, selection } from "../model/selection";
import { firstWindow, show, shown } from "../model/timewindow";

export interface Address {
  document: number;
  selection: Selection;
  /** The time on screen; null = the first window. */
  shown: Range | null;
  /** A view to bring to the front. */
  view: string;
  /** As `app/layout.ts` writes it; empty = as it was left, or the first one. */
  layout: string;
  /** As `model/baseline.ts` writes it. */
  baseline: string;
}

/** Parts of the selection by what they are in the URL, all under their own names: whole numbers, texts, and 1 for true. */
const NUMBERS = ["row", "lastRow", "wave", "iteration", "kernel", "kernelRank"] as const;
const TEXTS = ["kernelName", "span", "tracks", "metric", "per"] as const;
const FLAGS = ["onlyRange"] as const;
/** Names in links of earlier versions. */
const FORMER: { [name: string]: string } = { tracks: "lanes" };

/** The address in the part of a URL after `#`. Invalid parts are left out. */
export function readAddress(hash: string): Address {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    document: numberIn(parts, "document") ?? 0,
    selection: selectionIn(parts),
    shown: rangeIn(parts, "time"),
    view: parts.get("view") ?? "",
    layout: parts.get("layout") ?? "",
    baseline: parts.get("baseline") ?? "",
  };
}

function selectionIn(parts: URLSearchParams): Selection {
  const chosen: Selection = {};
  for (const name of NUMBERS) {
    const value = numberIn(parts, name);
    if (value !== undefined) chosen[name] = value;
  }
  for (const name of TEXTS) {
    const value = parts.get(name) ?? parts.get(FORMER[name] ?? "");
    if (value) chosen[name] = value;
  }
  for (const name of FLAGS) if (parts.get(name) === "1") chosen[name] = true;
  const [file, line] = [parts.get("file"), numberIn(parts, "line")];
  if (file && line !== undefined) chosen.sourceLine = { file, line };
  const range = rangeIn(parts, "range");
  if (range) chosen.range = range;
  return chosen;
}

/** A whole number that a double holds exactly; undefined = there is none. */
function numberIn(parts: URLSearchParams, name: string): number | undefined {
  const text = parts.get(name) ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** `begin~end`; null = there is none, or it is empty. */
function rangeIn(parts: URLSearchParams, name: string): Range | null {
  const [begin = Number.NaN, end = Number.NaN] = (parts.get(name) ?? "")
    .split("~")
    .map((text) => (text === "" ? Number.NaN : Number(text)));
  return Number.isFinite(begin) && Number.isFinite(end) && end > begin ? { begin, end } : null;
}

/** The part after `#` for an address; empty parts are left out. */
function writtenAddress(address: Address): string {
  const parts = new URLSearchParams();
  if (address.document) parts.set("document", String(address.document));
  const { sourceLine, range, ...rest } = address.selection;
  for (const name of [...NUMBERS, ...TEXTS]) {
    const value = rest[name];
    if (value !== undefined) parts.set(name, String(value));
  }
  for (const name of FLAGS) if (rest[name]) parts.set(name, "1");
  if (sourceLine) {
    parts.set("file", sourceLine.file);
    parts.set("line", String(sourceLine.line));
  }
  if (range) parts.set("range", `${range.begin}~${range.end}`);
  if (address.shown) parts.set("time", `${Math.round(address.shown.begin)}~${Math.round(address.shown.end)}`);
  if (address.view) parts.set("view", address.view);
  if (address.layout) parts.set("layout", address.layout);
  if (address.baseline) parts.set("baseline", address.baseline);
  return parts.toString();
}

/** The URL is replaced when nothing has changed for so long, and at once at most so often. */
const SETTLED_MS = 250;

/** What the URL has now, with the #. */
let written = location.hash || `#${startPlace}`;

/** What is on screen, as the URL has it after `#`: the URL of a frame of a notebook cannot change. */
export function place(): string {
  return written.slice(1);
}

function write(how: "pushState" | "replaceState", hash: string): void {
  written = hash;
  tellPlace(place());
  try {
    history[how](null, "", hash);
  } catch {
    // a sandboxed frame may not change its URL: `place` has it
  }
}

interface Followed {
  layoutChanged: () => void;
  /** The user is about to look at another document: Back leads to where this one was left. */
  leave: (document: number) => void;
}

/** Keep URL and state equal from now on. `layout` gives the layout on screen, `go` shows another document. */
export function followLocation(layout: () => string, go: (address: Address) => void): Followed {
  const hash = () => {
    const first = firstWindow.value;
    const isFirst = shown.value.begin === first.begin && shown.value.end === first.end;
    const time = isFirst ? null : shown.value;
    const now = { document: current.value, selection: selection.value, shown: time, view: "", layout: layout() };
    return `#${writtenAddress({ ...now, baseline: writtenBaseline() })}`;
  };
  let timer = 0;
  const replaceSoon = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => write("replaceState", hash()), SETTLED_MS);
  };
  effect(() => {
    void shown.value;
    void baseline.value;
    replaceSoon();
  });
  onSelect(() => {
    clearTimeout(timer);
    if (hash() !== written) write("pushState", hash());
  });
  window.addEventListener("popstate", () => {
    clearTimeout(timer);
    written = location.hash;
    const address = readAddress(written);
    if (address.document !== current.value) {
      go(address);
      return;
    }
    selection.value = address.selection;
    readBaseline(address.baseline);
    show(address.shown ?? firstWindow.value);
    if (address.view) go(address);
  });
  let replacedAt = Number.NEGATIVE_INFINITY;
  // Moving a panel reports this many times a second, and browsers bound how often a URL may change; a tab is fronted once.
  const layoutChanged = () => {
    if (performance.now() - replacedAt < SETTLED_MS) {
      replaceSoon();
      return;
    }
    replacedAt = performance.now();
    clearTimeout(timer);
    write("replaceState", hash());
  };
  const leave = (document: number) => {
    clearTimeout(timer);
    write("replaceState", hash());
    write("pushState", `#document=${document}`);
  };
  return { layoutChanged, leave };
}
