// Definitions of derived counters that the user has saved under a name, kept in the browser.
import { computed } from "@preact/signals";
import { change, settings } from "../../model/settings";

const SETS = "derivedSets";
const CHOSEN = "derivedChosen";

/** Name -> definitions. */
export const savedSets = computed<Record<string, string>>(() => {
  const stored = settings.value[SETS];
  if (typeof stored !== "object" || stored === null) return {};
  return Object.fromEntries(Object.entries(stored).filter(([, text]) => typeof text === "string"));
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
  change({ [SETS]: { ...savedSets.value, [name]: text }, [CHOSEN]: name });
}

export function deleteSet(name: string): void {
  const { [name]: _, ...others } = savedSets.value;
  change({ [SETS]: others, [CHOSEN]: null });
}
