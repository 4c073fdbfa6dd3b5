// Queries of the user: those that ran, the latest first, and those that were saved under a name.
import { effect, signal } from "@preact/signals";
import { storageTurn, store, stored, storedBelow } from "../../model/user_storage";

/** Keys in the storage of the user: of the history, and what those of saved queries begin with. */
const HISTORY = "sqlHistory";
const BELOW = "sql.";
/** Queries in the history. */
const MOST = 50;

export const history = signal<readonly string[]>([]);
/** Name -> SQL. */
export const savedQueries = signal<Readonly<Record<string, string>>>({});

// Reads both once the stored values have arrived.
effect(() => {
  void storageTurn.value;
  const texts = stored(HISTORY);
  history.value = Array.isArray(texts) ? texts.filter((text) => typeof text === "string").slice(0, MOST) : [];
  const entries = Object.entries(storedBelow(BELOW)).filter((entry) => typeof entry[1] === "string");
  savedQueries.value = Object.fromEntries(entries) as Record<string, string>;
});

export function remember(sql: string): void {
  history.value = [sql, ...history.peek().filter((text) => text !== sql)].slice(0, MOST);
  store(HISTORY, history.value);
}

export function saveQuery(name: string, sql: string): void {
  savedQueries.value = { ...savedQueries.peek(), [name]: sql };
  store(BELOW + name, sql);
}

export function deleteQuery(name: string): void {
  const { [name]: _, ...others } = savedQueries.peek();
  savedQueries.value = others;
  store(BELOW + name, null);
}
