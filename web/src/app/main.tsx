import "@lumino/widgets/style/index.css";
import "./theme.css";
import { batch, effect, untracked } from "@preact/signals";
import { render } from "preact";
import { askJson } from "../data/ask";
import type { AnswerError } from "../data/source";
import { LOOK_AGAIN_MS, reportFailure, turn } from "../model/connection";
import {
  askOverview,
  current,
  documents,
  loadDocuments,
  type Overview,
  opening,
  overview,
  unreadable,
} from "../model/document";
import { asAnswerError } from "../model/loaded";
import { openNotes } from "../model/notes";
import { preview, selection } from "../model/selection";
import { settings } from "../model/settings";
import { bounds, setBounds, show } from "../model/timewindow";
import { openStorage, store, stored } from "../model/user_storage";
import { onFrontView } from "../model/view";
import { Problem } from "../widgets/answered";
import { Dock } from "./dock";
import { listenToKeys } from "./keys";
import { type Layout, read, written } from "./layout";
import { type Address, followLocation, place, readAddress } from "./location";
import { FIRST_LAYOUT } from "./registry";
import { Shell } from "./shell";

effect(() => {
  document.documentElement.dataset.theme = settings.value.theme;
});

const layoutKey = () => `layout.${overview.value?.kind}`;

function keptLayout(): Layout | null {
  const layout = stored(layoutKey());
  return typeof layout === "string" ? read(layout) : null;
}

function keepLayout(layout: string): void {
  if (stored(layoutKey()) !== layout) store(layoutKey(), layout);
}

/** The whole time of a document; counters have none. */
function timeOf(facts: Overview): { begin: number; end: number } {
  if (facts.kind === "trace") return { begin: facts.start_cycles, end: facts.end_cycles };
  return { begin: 0, end: facts.kind === "run" ? facts.duration_ns : 1 };
}

let latest = 0;

/** Makes the document of an address the current one; false when it cannot be read, or another was chosen meanwhile. */
async function open(address: Address, clear: () => void): Promise<boolean> {
  const turn = ++latest;
  const number = documents.value[address.document] ? address.document : 0;
  opening.value = documents.value[number]?.label ?? "";
  let facts: Overview | null = null;
  let problem: AnswerError | null = null;
  try {
    facts = await askOverview(number);
  } catch (error) {
    problem = asAnswerError(error);
    reportFailure(problem);
  }
  if (turn !== latest) return false;
  clear(); // views of the old document ask nothing about the new one
  batch(() => {
    opening.value = "";
    unreadable.value = problem;
    current.value = number;
    overview.value = facts;
  });
  document.title = `${documents.value[number]?.label ?? ""} – wavescope`;
  if (!facts) return false;
  setBounds(timeOf(facts));
  selection.value = address.selection;
  preview.value = {};
  show(address.shown ?? bounds.value);
  openNotes();
  return true;
}

/** Ask at once for what the first views need, not one after the other. Whether there are more documents is not known yet. */
function askAhead(): void {
  for (const question of ["overview", "tracks"]) askJson(0, question).catch(() => {}); // whoever needs it says so
}

/** The list of documents; a server that does not answer is asked until it does. */
async function awaitDocuments(host: HTMLElement): Promise<boolean> {
  for (;;) {
    try {
      await loadDocuments();
      return true;
    } catch (error) {
      const problem = asAnswerError(error);
      render(<Problem error={problem} />, host);
      if (!problem.isConnection) return false;
      await new Promise((wake) => setTimeout(wake, LOOK_AGAIN_MS));
    }
  }
}

async function start(host: HTMLElement): Promise<void> {
  const first = readAddress(place());
  if (first.document === 0) askAhead();
  const keeping = openStorage();
  if (!(await awaitDocuments(host))) return;
  await keeping;
  const isOpen = await open(first, () => {});

  render(null, host);
  host.textContent = "";
  const head = host.appendChild(document.createElement("div"));
  const body = host.appendChild(document.createElement("div"));
  body.className = "dock-host";
  const now = () => written(dock.layout() ?? { tabs: [] });
  const dock = new Dock(body, () => {
    if (!dock.layout()) return; // between two documents nothing is laid out
    keepLayout(now());
    followed?.layoutChanged();
  });
  const firstLayout = () => FIRST_LAYOUT[overview.value?.kind ?? "trace"];
  const layOut = (address: Address) => {
    dock.layOut(read(address.layout) ?? keptLayout() ?? firstLayout());
    if (address.view) dock.front(address.view);
  };
  const go = async (address: Address) => {
    if (address.document === current.value && overview.value) {
      if (address.view) dock.front(address.view);
      return;
    }
    if (await open(address, () => dock.clear())) layOut(address);
  };
  let followed: ReturnType<typeof followLocation> | null = null;
  onFrontView((id) => dock.front(id));
  if (isOpen) layOut(first);
  followed = followLocation(now, go);
  effect(() => {
    if (turn.value && untracked(() => unreadable.value?.isConnection)) void go(readAddress(place()));
  });
  const choose = (number: number) => {
    if (number === current.value) return;
    if (overview.value) followed?.leave(number);
    void go({ ...readAddress(""), document: number });
  };
  const reset = () => dock.layOut(firstLayout());
  listenToKeys();
  render(<Shell go={choose} resetLayout={reset} />, head);
}

const host = document.getElementById("app");
if (host) void start(host);
