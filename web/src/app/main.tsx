import "@lumino/widgets/style/index.css";
import "./theme.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { askJson } from "../data/ask";
import { current, documents, loadDocuments, loadOverview, overview } from "../model/document";
import { asAnswerError } from "../model/loaded";
import { openNotes } from "../model/notes";
import { selection } from "../model/selection";
import { settings } from "../model/settings";
import { bounds, setBounds, show } from "../model/timewindow";
import { onFrontView } from "../model/view";
import { Problem } from "../widgets/answered";
import { Dock } from "./dock";
import { listenToKeys } from "./keys";
import { type Layout, read, written } from "./layout";
import { type Address, followLocation, readAddress } from "./location";
import { FIRST_LAYOUT } from "./registry";
import { Shell } from "./shell";

effect(() => {
  document.documentElement.dataset.theme = settings.value.theme;
});

const layoutKey = () => `wavescope.layout.${overview.value?.kind}`;

function keptLayout(): Layout | null {
  try {
    return read(localStorage.getItem(layoutKey()) ?? "");
  } catch {
    return null;
  }
}

function keepLayout(layout: string): void {
  try {
    localStorage.setItem(layoutKey(), layout);
  } catch {
    // a browser without storage forgets, nothing else
  }
}

/** Shows the document of an address; false when it cannot be read. */
async function open(address: Address, host: HTMLElement): Promise<boolean> {
  try {
    current.value = documents.value[address.document] ? address.document : 0;
    await loadOverview();
  } catch (error) {
    render(<Problem error={asAnswerError(error)} />, host);
    return false;
  }
  const facts = overview.value;
  if (!facts) return false;
  document.title = `${documents.value[current.value]?.label ?? ""} – wavescope`;
  setBounds(
    facts.kind === "trace"
      ? { begin: facts.begin_cycles, end: facts.end_cycles }
      : { begin: 0, end: facts.duration_ns },
  );
  selection.value = address.selection;
  show(address.shown ?? bounds.value);
  openNotes();
  return true;
}

/** Ask at once for what the first views need, not one after the other. Whether there are more documents is not known yet. */
function askAhead(): void {
  for (const question of ["overview", "tracks"]) askJson(0, question).catch(() => {}); // whoever needs it says so
}

async function start(host: HTMLElement): Promise<void> {
  const first = readAddress(location.hash);
  if (first.document === 0) askAhead();
  try {
    await loadDocuments();
  } catch (error) {
    render(<Problem error={asAnswerError(error)} />, host);
    return;
  }
  if (!(await open(first, host))) return;

  host.textContent = "";
  const head = host.appendChild(document.createElement("div"));
  const body = host.appendChild(document.createElement("div"));
  body.className = "dock-host";
  const now = () => written(dock.layout() ?? { tabs: [] });
  const dock = new Dock(body, () => {
    keepLayout(now());
    followed?.layoutChanged();
  });
  const firstLayout = () => FIRST_LAYOUT[overview.value?.kind ?? "trace"];
  const layOut = (address: Address) => {
    dock.layOut(read(address.layout) ?? keptLayout() ?? firstLayout());
    if (address.view) dock.front(address.view);
  };
  const go = async (address: Address) => {
    if (address.document === current.value) {
      if (address.view) dock.front(address.view);
      return;
    }
    if (await open(address, body)) layOut(address);
  };
  let followed: ReturnType<typeof followLocation> | null = null;
  onFrontView((id) => dock.front(id));
  layOut(first);
  followed = followLocation(now, go);
  const reset = () => dock.layOut(firstLayout());
  listenToKeys();
  render(<Shell go={(number) => go({ ...readAddress(""), document: number })} resetLayout={reset} />, head);
}

const host = document.getElementById("app");
if (host) void start(host);
