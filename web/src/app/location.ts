// The URL holds what is on screen: document, selection, time, views. Selections make entries in the history, zooming and
// moving panels do not.
import { effect } from "@preact/signals";
import { startPlace, tellPlace } from "../data/host";
import { baseline, readBaseline, writtenBaseline } from "../model/baseline";
import { current } from "../model/document";
import { onSelect, type Selection, selection } from "../model/selection";
import { firstWindow, show, shown } from "../model/timewindow";

export interface Address {
  document: number;
  selection: Selection;
  shown: { begin: number; end: number } | null;
  /** A view to bring to the front. */
  view: string;
  /** As `app/layout.ts` writes it; empty = as it was left, or the first one. */
  layout: string;
  /** As `model/baseline.ts` writes it. */
  baseline: string;
}

const WHOLE = ["row", "lastRow", "wave", "iteration", "kernel", "kernelRank"] as const;
const TEXT = ["kernelName", "span", "tracks", "metric", "per"] as const;
/** Names in links of earlier versions. */
const FORMER: { [name: string]: string } = { tracks: "lanes" };
const FLAGS = ["onlyRange"] as const;

/** The address in the part of a URL after `#`. Invalid parts are left out. */
export function readAddress(hash: string): Address {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (name: string) => {
    const value = given.get(name) ?? "";
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const range = (name: string) => {
    const [begin, end] = (given.get(name) ?? "").split("~").map((part) => (part === "" ? Number.NaN : Number(part)));
    const isRange = Number.isFinite(begin) && Number.isFinite(end) && (end as number) > (begin as number);
    return isRange ? { begin: begin as number, end: end as number } : null;
  };
  const chosen: Selection = {};
  for (const name of WHOLE) {
    const value = whole(name);
    if (value !== undefined) chosen[name] = value;
  }
  for (const name of TEXT) {
    const value = given.get(name) ?? given.get(FORMER[name] ?? "");
    if (value) chosen[name] = value;
  }
  for (const name of FLAGS) if (given.get(name) === "1") chosen[name] = true;
  const line = whole("line");
  const file = given.get("file");
  if (file && line !== undefined) chosen.sourceLine = { file, line };
  const marked = range("range");
  if (marked) chosen.range = marked;
  return {
    document: whole("document") ?? 0,
    selection: chosen,
    shown: range("time"),
    view: given.get("view") ?? "",
    layout: given.get("layout") ?? "",
    baseline: given.get("baseline") ?? "",
  };
}

/** The part after `#` for an address; empty parts are left out. */
function writtenAddress(address: Address): string {
  const parts = new URLSearchParams();
  if (address.document) parts.set("document", String(address.document));
  const { sourceLine, range, ...rest } = address.selection;
  for (const name of [...WHOLE, ...TEXT]) {
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

const SETTLED_MS = 250;

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
    // a sandboxed frame
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
