// What is kept from one start of the page to the next, key by key: settings, layouts, bookmarks, named sets of counters.
import { effect, signal } from "@preact/signals";
import { loadKept, saveKept } from "../data/kept";
import type { AnswerError } from "../data/source";
import { turn } from "./connection";
import { asAnswerError } from "./loaded";

/** Grows once what was kept is here: what was read before is read again. */
export const keptTurn = signal(0);
/** Why something was not read, or cannot be kept. */
export const keptProblem = signal<AnswerError | null>(null);
/** What shows the same documents again; empty = not known. */
export const openCommand = signal("");
/** Where it is kept; empty = in this browser. */
export const keptPlace = signal("");

let entries: Record<string, unknown> = {};
let waiting: Record<string, unknown> = {};
let isSaving = false;

/** Reads what was kept; the page begins after that. */
export async function openKept(): Promise<void> {
  try {
    const kept = await loadKept();
    entries = { ...kept.entries, ...waiting };
    openCommand.value = kept.command;
    keptPlace.value = kept.place ?? "";
    if (kept.problem) keptProblem.value = asAnswerError(new Error(kept.problem));
  } catch (error) {
    keptProblem.value = asAnswerError(error);
  }
  keptTurn.value += 1;
}

/** What is kept under a key: anything, also what another version wrote. */
export function kept(key: string): unknown {
  return entries[key];
}

/** All that is kept under keys that begin so, without that beginning. */
export function keptBelow(prefix: string): Record<string, unknown> {
  const found = Object.entries(entries).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(found.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** Keep a value under a key; null forgets it. */
export function keep(key: string, value: unknown): void {
  if (value === null) delete entries[key];
  else entries[key] = value;
  waiting[key] = value;
  if (!isSaving) void save();
}

/** Says on the root element whether something is still to be kept: what tests wait for. */
async function save(): Promise<void> {
  isSaving = true;
  document.documentElement.dataset.keeping = "1";
  while (Object.keys(waiting).length) {
    const sent = waiting;
    waiting = {};
    try {
      await saveKept(sent);
    } catch (error) {
      const problem = asAnswerError(error); // what is on screen stays as it is
      keptProblem.value = problem;
      if (!problem.isConnection) continue;
      waiting = { ...sent, ...waiting }; // kept when the server is back
      break;
    }
  }
  isSaving = false;
  document.documentElement.dataset.keeping = String(Object.keys(waiting).length);
}

effect(() => {
  if (turn.value && Object.keys(waiting).length && !isSaving) void save();
});
