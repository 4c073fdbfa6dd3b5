// Printing: the diagnosis, the summary and the current view below each other on white paper, instead of one page of screen.
import { render } from "preact";
import { current, documents, overview } from "../model/document";
import { isPrinting } from "../model/settings";
import type { View } from "../model/view";
import { Guarded } from "../widgets/answered";
import { factsText } from "./facts";
import { VIEWS } from "./registry";
import "./printing.css";

/** What is printed of each kind of document before the current view. */
const PRINTED: Record<View["about"], string[]> = {
  trace: ["diagnosis", "summary"],
  run: ["run_diagnosis", "run_summary"],
  counters: ["counter_diagnosis", "speed_of_light"],
  store: ["trends"],
};

const LONGEST_WAIT_MS = 15_000;
const LOOK_MS = 100;

/** What the panels on screen say about themselves. */
interface Panels {
  currentView: () => View | null;
  nodeOf: (id: string) => HTMLElement | null;
}

let panels: Panels | null = null;

export function onPrint(dock: Panels): void {
  panels = dock;
  window.addEventListener("keydown", (event) => {
    if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void print();
  });
}

/** Whether everything on the sheet has arrived. */
const isReady = (sheet: HTMLElement) =>
  (document.documentElement.dataset.asking ?? "0") === "0" && !sheet.querySelector('.waiting, [aria-busy="true"]');

async function untilReady(sheet: HTMLElement): Promise<void> {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  for (let calm = 0; calm < 3 && performance.now() < deadline; ) {
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
    calm = isReady(sheet) ? calm + 1 : 0;
  }
}

/** Lays everything out as it will be on paper, asks the browser to print it, and shows the page again. */
export async function print(): Promise<void> {
  const facts = overview.value;
  if (!facts || isPrinting.value) return;
  const seen = panels?.currentView() ?? null;
  const views = PRINTED[facts.kind].flatMap((id) => VIEWS.find((view) => view.id === id) ?? []);
  const last = seen && !views.includes(seen) ? panels?.nodeOf(seen.id) : null;
  const sheet = document.createElement("main");
  sheet.className = "print-sheet";
  document.body.prepend(sheet);
  document.documentElement.dataset.printing = "soon";
  last?.classList.add("printed");
  isPrinting.value = true;
  render(<Sheet views={views} last={last ? seen : null} />, sheet);
  const leave = () => {
    for (const event of LEAVING) window.removeEventListener(event, leave);
    render(null, sheet);
    sheet.remove();
    last?.classList.remove("printed");
    delete document.documentElement.dataset.printing;
    isPrinting.value = false;
  };
  await untilReady(sheet);
  for (const event of LEAVING) window.addEventListener(event, leave);
  document.documentElement.dataset.printing = "now";
  window.print();
}

/** Whatever the user does after printing leads back; some browsers do not tell that they have printed. */
const LEAVING = ["afterprint", "pointerdown", "keydown"];

function Sheet({ views, last }: { views: View[]; last: View | null }) {
  const facts = overview.value;
  const line = documents.value[current.value];
  const version = import.meta.env.WAVEWRIGHT_VERSION as string;
  return (
    <>
      <header>
        <h1>{line?.label}</h1>
        <p>{facts ? factsText(facts) : ""}</p>
        <p class="faint">
          {line?.path} · printed {new Date().toLocaleString()} · wavewright {version}
        </p>
      </header>
      {views.map((view) => (
        <section class="print-block" key={view.id} data-print={view.id}>
          <h2>{view.title}</h2>
          <Guarded>
            <view.component />
          </Guarded>
        </section>
      ))}
      {last ? <h2 class="print-last">{last.title}</h2> : null}
    </>
  );
}
