// What the palette finds for what was typed: in the page at once, in the document when it has answered.
import { matcher } from "../base/matcher";
import { fitOf, type Meaning, meaningOf, RANK } from "../base/query";
import { documents, overview } from "../model/document";
import { notes } from "../model/notes";
import { frontView } from "../model/view";
import { commandsNow } from "./commands";
import { Collected, type Fit, loosely, type Results } from "./hit_groups";
import { findInCounters } from "./hits_of_counters";
import { findInRun } from "./hits_of_run";
import { findInTrace } from "./hits_of_trace";
import { VIEWS } from "./registry";

/** What hits do that only the shell can do. */
export interface PageActions {
  chooseDocument: (number: number) => void;
  resetLayout: () => void;
}

/** How names fit: a /regular expression/ fits as a part of them does; `problem`: why it cannot be used. */
function fitFor(text: string): { fitOfName: Fit; problem: string } {
  const { test, problem } = matcher(text);
  const isPattern = /^\/.+\/i?$/.test(text);
  return { fitOfName: isPattern ? (name) => (test(name) ? RANK.part : null) : (name) => fitOf(name, text), problem };
}

/** What is known without asking; where nothing was typed, all of it but bookmarks. */
function findInPage({ scope, text }: Meaning, fitOfName: Fit, actions: PageActions): Collected {
  const results = new Collected();
  const isAll = text === "";
  const fitWith = (name: string, about: string) => (isAll ? RANK.same : (fitOfName(name) ?? loosely(fitOfName(about))));
  if (scope === "all" || scope === "views") {
    const facts = overview.value;
    for (const view of VIEWS.filter(({ about }) => about === facts?.kind)) {
      const missing = facts ? view.missing(facts) : "";
      const note = missing ? `nothing to show: ${missing}` : view.hint;
      const go = () => frontView(view.id);
      results.add("Views", fitWith(view.title, view.hint), () => ({ text: view.title, note, go }));
    }
  }
  if (scope === "views" || scope === "rows") return results;
  for (const { group, title, note, keys, run } of commandsNow(actions.resetLayout)) {
    results.add(group, fitWith(title, note), () => ({ text: title, note, ...(keys ? { keys } : {}), go: run }));
  }
  for (const { label, path, number } of documents.value.length > 1 ? documents.value : []) {
    const go = () => actions.chooseDocument(number);
    results.add("Documents", fitWith(label, path), () => ({ text: label, note: path, go }));
  }
  for (const { text: name, address } of notes.value) {
    const go = () => {
      location.hash = address;
    };
    results.add("Bookmarks", fitOfName(name), () => ({ text: name, note: "", go }));
  }
  return results;
}

/** Everything that fits; `showQuick` gets what is known at once, before the document was asked. */
export async function find(
  typed: string,
  actions: PageActions,
  showQuick: (results: Results) => void,
): Promise<Results> {
  const meaning = meaningOf(typed);
  const { fitOfName, problem } = fitFor(meaning.text);
  if (problem) return new Collected().results(problem);
  const inPage = findInPage(meaning, fitOfName, actions);
  const isOfPage = meaning.scope === "commands" || meaning.scope === "views";
  if (!meaning.text || isOfPage) return inPage.results("");
  showQuick(inPage.results(""));
  const results = meaning.scope === "all" ? inPage : new Collected();
  const findInDocument = { trace: findInTrace, run: findInRun, counters: findInCounters, store: null };
  await findInDocument[overview.value?.kind ?? "trace"]?.(meaning, fitOfName, results);
  return results.results("");
}
