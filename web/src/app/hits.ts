// What the palette finds: in the page at once, in the document when it has answered.
import { matcher } from "../base/matcher";
import { fitOf, type Meaning, meaningOf } from "../base/query";
import { documents, overview } from "../model/document";
import { notes } from "../model/notes";
import { frontView } from "../model/view";
import { commandsNow } from "./commands";
import { Collected, type Fit, LOOSELY, type Results } from "./hit_groups";
import { findInCounters } from "./hits_of_counters";
import { findInRun } from "./hits_of_run";
import { findInTrace } from "./hits_of_trace";
import { VIEWS } from "./registry";

function fitter(text: string): { rate: Fit; problem: string } {
  const { test, problem } = matcher(text);
  const isPattern = /^\/.+\/i?$/.test(text);
  return { rate: isPattern ? (name) => (test(name) ? 4 : 0) : (name) => fitOf(name, text), problem };
}

/** What is known without asking: views, commands, settings, documents, bookmarks. */
function findInPage({ scope, text }: Meaning, rate: Fit, results: Collected): void {
  const isAll = text === "";
  const facts = overview.value;
  if (scope !== "commands" && scope !== "rows") {
    for (const view of VIEWS.filter(({ about }) => about === facts?.kind)) {
      const missing = facts ? view.missing(facts) : "";
      const good = isAll ? 1 : rate(view.title) || (rate(view.hint) && LOOSELY);
      if (!good) continue;
      const note = missing ? `nothing to show: ${missing}` : view.hint;
      results.add("Views", good, () => ({ text: view.title, note, go: () => frontView(view.id) }));
    }
  }
  if (scope === "views" || scope === "rows") return;
  for (const { group, title, note, keys, run } of commandsNow()) {
    const good = isAll ? 1 : rate(title) || (rate(note) && LOOSELY);
    if (good) results.add(group, good, () => ({ text: title, note, ...(keys ? { keys } : {}), go: run }));
  }
  for (const { label, path, number } of documents.value.length > 1 ? documents.value : []) {
    const good = isAll ? 1 : rate(label) || (rate(path) && LOOSELY);
    if (good) results.add("Documents", good, () => ({ text: label, note: path, go: () => chooseDocument(number) }));
  }
  for (const { text: name, address } of notes.value) {
    const good = rate(name);
    const go = () => {
      location.hash = address;
    };
    if (good) results.add("Bookmarks", good, () => ({ text: name, note: "", go }));
  }
}

let chooseDocument: (number: number) => void = () => {};

/** `app/palette.tsx` says how another document is shown. */
export function onChooseDocument(how: (number: number) => void): void {
  chooseDocument = how;
}

/** Everything that fits; `soon` gets what is known at once, before documents were asked. */
export async function find(typed: string, soon: (results: Results) => void): Promise<Results> {
  const meaning = meaningOf(typed);
  const { rate, problem } = fitter(meaning.text);
  const page = new Collected();
  if (!problem) findInPage(meaning, rate, page);
  const quick = page.results(problem);
  if (!meaning.text || problem || meaning.scope === "commands" || meaning.scope === "views") return quick;
  soon(quick);
  const results = new Collected();
  if (meaning.scope === "all") findInPage(meaning, rate, results);
  const inside = { trace: findInTrace, run: findInRun, counters: findInCounters, store: null };
  await inside[overview.value?.kind ?? "trace"]?.(meaning, rate, results);
  return results.results("");
}
