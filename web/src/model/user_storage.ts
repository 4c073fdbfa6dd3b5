// What is stored from one start of the page to the next, key by key: settings, layouts, bookmarks, named sets of counters.
import { effect, signal } from "@preact/signals";
import type { AnswerError } from "../data/source";
import { loadStored, saveStored } from "../data/user_storage";
import { turn } from "./connection";
import { asAnswerError } from "./loaded";

/** Grows when the stored values have arrived: what was read before is read again. */
export const storageTurn = signal(0);
/** Why something was not read, or cannot be stored. */
export const storageProblem = signal<AnswerError | null>(null);
/** What shows the same documents again; empty = not known. */
export const openCommand = signal("");
/** Where it is stored; empty = in this browser. */
export const storageFile = signal("");

/** All that is stored, by key. */
let entries: Record<string, unknown> = {};
/** What is still to be sent, by key; null = removed. */
let waiting: Record<string, unknown> = {};
let isSaving = false;

/** Reads what was stored; the page starts after that. */
export async function openStorage(): Promise<void> {
  try {
    const loaded = await loadStored();
    entries = { ...loaded.entries, ...waiting };
    openCommand.value = loaded.command;
    storageFile.value = loaded.place ?? "";
    if (loaded.problem) storageProblem.value = asAnswerError(new Error(loaded.problem));
  } catch (error) {
    storageProblem.value = asAnswerError(error);
  }
  storageTurn.value += 1;
}

/** What is stored under a key: anything, also what another version wrote. */
export function stored(key: string): unknown {
  return entries[key];
}

/** All that is stored under keys with this prefix, without the prefix. */
export function storedBelow(prefix: string): Record<string, unknown> {
  const below = Object.entries(entries).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(below.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** Store a value under a key; null removes it. */
export function store(key: string, value: unknown): void {
  if (value === null) delete entries[key];
  else entries[key] = value;
  waiting[key] = value;
  if (!isSaving) void save();
}

/** Says on the root element whether something is still to be stored: tests wait for it. */
async function save(): Promise<void> {
  isSaving = true;
  document.documentElement.dataset.keeping = "1";
  while (Object.keys(waiting).length) {
    const sent = waiting;
    waiting = {};
    try {
      await saveStored(sent);
    } catch (error) {
      const problem = asAnswerError(error); // what is on screen stays as it is
      storageProblem.value = problem;
      if (!problem.isConnection) continue;
      waiting = { ...sent, ...waiting }; // stored when the server is back
      break;
    }
  }
  isSaving = false;
  document.documentElement.dataset.keeping = String(Object.keys(waiting).length);
}

effect(() => {
  if (turn.value && Object.keys(waiting).length && !isSaving) void save();
});
