// The page starts here: the first document is asked for and opened, then the shell and the panels are put together and
// connected with the URL, the keys and the settings.
import "@lumino/widgets/style/index.css";
import "./theme.css";
import { batch, effect, untracked } from "@preact/signals";
import { render } from "preact";
import { askJson } from "../data/ask";
import type { AnswerError } from "../data/source";
import { beforeAndAfter, readBaseline } from "../model/baseline";
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
import { onOpened } from "../model/opening";
import { preview, selection } from "../model/selection";
import { settings, theme } from "../model/settings";
import { firstWindow, setBounds, show } from "../model/timewindow";
import { openStorage, store, stored } from "../model/user_storage";
import { onFrontView, onToggleMaximized } from "../model/view";
import { Problem } from "../widgets/answered";
import { nameCutTexts } from "./cut_texts";
import { Dock } from "./dock";
import { firstScreen, frontSetting } from "./first_screen";
import { focusView, listenToFocus } from "./focus";
import { listenToKeys } from "./keys";
import { isAlike, type Layout, read, written } from "./layout";
import { type Address, followLocation, place, readAddress } from "./location";
import { onPrint } from "./printing";
import { Shell } from "./shell";

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
effect(() => {
  document.documentElement.style.setProperty("--text-size", String(settings.value.textSize / 100));
});

const screenOfDocument = () => (overview.value ? firstScreen(overview.value) : null);

/** Documents that open with another first screen have another place for what the user made of it. */
const layoutKey = () => ["layout", overview.value?.kind, ...(screenOfDocument()?.rules ?? [])].join(".");

function storedLayout(): Layout | null {
  const layout = stored(layoutKey());
  return typeof layout === "string" ? read(layout) : null;
}

/** The first layout is not stored: what it is may depend on the document, and on the version. */
function storeLayout(layout: Layout, initial: Layout | null): void {
  const next = initial && isAlike(layout, initial) ? null : written(layout);
  if ((stored(layoutKey()) ?? null) !== next) store(layoutKey(), next);
}

/** The whole time of a document; counters have none. */
function timeOf(facts: Overview): { begin: number; end: number } {
  if (facts.kind === "trace") return { begin: facts.start_cycles, end: facts.end_cycles };
  return { begin: 0, end: facts.kind === "run" ? facts.duration_ns : 1 };
}

/** Counts openings: one that was overtaken by another is given up. */
let latest = 0;

/** Makes the document of an address the current one; false when it cannot be read, or another was chosen meanwhile. */
async function open(address: Address, clear: () => void): Promise<boolean> {
  const ownTurn = ++latest;
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
  if (ownTurn !== latest) return false;
  clear(); // views of the old document ask nothing about the new one
  batch(() => {
    opening.value = "";
    unreadable.value = problem;
    current.value = number;
    overview.value = facts;
  });
  document.title = `${documents.value[number]?.label ?? ""} – wavewright`;
  if (!facts) return false;
  setBounds(timeOf(facts));
  const isFirst = !address.layout && !Object.keys(address.selection).length;
  selection.value = isFirst ? firstScreen(facts).selection : address.selection;
  readBaseline(address.baseline);
  preview.value = {};
  show(address.shown ?? firstWindow.value);
  openNotes();
  return true;
}

/** Ask at once for what the first views need, not one after the other. Whether there are more documents is not known yet. */
function askAhead(): void {
  for (const question of ["overview", "layers"]) askJson(0, question).catch(() => {}); // whoever needs it says so
}

const COMPARE_OF: Record<Overview["kind"], string> = {
  trace: "compare",
  run: "run_compare",
  counters: "counter_compare",
  store: "store_captures",
};

/** Where to start without a place in the URL: two documents of one kind that were opened together are compared. */
async function firstAddress(): Promise<Address> {
  const address = readAddress(place());
  const pair = place() ? null : beforeAndAfter(documents.value);
  if (!pair) return address;
  const [before, after] = await Promise.all(pair.map((line) => askOverview(line.number).catch(() => null)));
  if (!before || !after || before.kind !== after.kind) return address;
  return { ...address, document: pair[1].number, view: COMPARE_OF[after.kind] };
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

/** The place at which the page of a server without documents opens. */
const START = "start";

async function start(host: HTMLElement): Promise<void> {
  if (readAddress(place()).document === 0 && place() !== START) askAhead();
  const storageIsRead = openStorage();
  if (!(await awaitDocuments(host))) return;
  await storageIsRead;
  const first = await firstAddress();
  const isOpen = documents.value.length > 0 && (await open(first, () => {})); // else the shell asks for something
  new Page(host, isOpen ? first : null);
}

/** The shell above, the panels below it, and what connects both with the URL, the keys and the model. */
class Page {
  private readonly dock: Dock;
  /** What keeps the URL equal; null = nothing is followed before the first layout stands. */
  private readonly followed: ReturnType<typeof followLocation> | null = null;

  /** `first` is the address of the document that is open; null = none is. */
  constructor(host: HTMLElement, first: Address | null) {
    render(null, host);
    host.textContent = "";
    const head = host.appendChild(document.createElement("div"));
    const body = host.appendChild(document.createElement("main"));
    body.className = "dock-host";
    this.dock = new Dock(body, () => this.layoutChanged());
    this.answerRequests();
    if (first) this.layOut(first);
    const layout = () => written(this.dock.layout() ?? { tabs: [] });
    this.followed = followLocation(layout, (address) => void this.go(address));
    effect(() => {
      // the server is back: what could not be read is read now
      if (turn.value && untracked(() => unreadable.value?.isConnection)) void this.go(readAddress(place()));
    });
    onOpened((number) => this.choose(number));
    listenToKeys();
    listenToFocus();
    nameCutTexts();
    render(
      <Shell go={(number) => this.choose(number)} layOut={(chosen) => this.dock.layOut(chosen)} layout={layout} />,
      head,
    );
  }

  /** Does what views and keys ask for without knowing the dock. */
  private answerRequests(): void {
    const front = (id: string) => {
      this.dock.front(id);
      focusView(id);
    };
    onFrontView(front, (id) => this.dock.uncover(id));
    onToggleMaximized((id) => this.dock.toggleMaximized(id));
    onPrint(this.dock);
  }

  private layoutChanged(): void {
    const layout = this.dock.layout();
    const screen = screenOfDocument();
    if (!layout || !screen) return; // between two documents nothing is laid out
    storeLayout(layout, this.dock.fitting(screen.layout));
    this.followed?.layoutChanged();
  }

  /** The layout of the address, else the one that the user left, else the first one of the document. */
  private layOut(address: Address): void {
    const known = read(address.layout) ?? storedLayout();
    this.dock.layOut(known ?? screenOfDocument()?.layout ?? { tabs: [] });
    if (address.view) this.dock.front(address.view);
    else if (!known && overview.value) this.dock.open(frontSetting(overview.value.kind));
  }

  /** Shows what an address says: of the current document a view only, for the selection is read by who calls. */
  private async go(address: Address): Promise<void> {
    if (address.document === current.value && overview.value) {
      if (address.view) this.dock.front(address.view);
      return;
    }
    if (await open(address, () => this.dock.clear())) this.layOut(address);
  }

  /** Another document was chosen, or opened from the page. */
  private choose(number: number): void {
    if (number === current.value && overview.value) return;
    if (overview.value) this.followed?.leave(number);
    void this.go({ ...readAddress(""), document: number });
  }
}

const host = document.getElementById("app");
if (host) void start(host);
