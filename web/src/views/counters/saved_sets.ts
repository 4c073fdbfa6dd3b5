// Definitions of derived counters that the user has saved under a name; each set is stored under its own key.
import { computed, effect, signal } from "@preact/signals";
import { change, settings } from "../../model/settings";
import { storageTurn, store, storedBelow } from "../../model/user_storage";

/** What keys of saved sets begin with in the storage of the user, and the setting that names the chosen one. */
const BELOW = "derived.";
const CHOSEN = "derivedChosen";

/** Name -> definitions. */
export const savedSets = signal<Record<string, string>>({});

effect(() => {
  void storageTurn.value;
  const texts = Object.entries(storedBelow(BELOW)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  savedSets.value = Object.fromEntries(texts);
});

/** The name of the set in use; null = the built-in one. */
export const chosenSet = computed<string | null>(() => {
  const name = settings.value[CHOSEN];
  return typeof name === "string" && Object.hasOwn(savedSets.value, name) ? name : null;
});

export function chooseSet(name: string | null): void {
  change({ [CHOSEN]: name });
}

export function saveSet(name: string, text: string): void {
  savedSets.value = { ...savedSets.peek(), [name]: text };
  store(BELOW + name, text);
  chooseSet(name);
}

export function deleteSet(name: string): void {
  const { [name]: _, ...others } = savedSets.peek();
  savedSets.value = others;
  store(BELOW + name, null);
  chooseSet(null);
}
