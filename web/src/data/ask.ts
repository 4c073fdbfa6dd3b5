// Questions to the server: each is asked once while its answer is kept, also when several views want it at the same time.
import { Columns } from "./columns";
import { source } from "./source";

export type Parameters = Record<string, string | number>;

const MOST_KEPT = 400;
const kept = new Map<string, Promise<unknown>>();

/** Parameters are in the order of their names: an exported page finds its answers by this (`key_of` of page/held.py). */
export function path(number: number, question: string, parameters: Parameters): string {
  const query = Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${encodeURIComponent(parameters[name] ?? "")}`);
  return `${number}/${question}${query.length ? `?${query.join("&")}` : ""}`;
}

let asking = 0;

/** Asks, and says on the root element how many questions are open: what tests and benchmarks wait for. */
async function get(key: string): Promise<Uint8Array> {
  const say = (change: number) => {
    asking += change;
    document.documentElement.dataset.asking = String(asking);
  };
  say(1);
  try {
    return await source.get(key);
  } finally {
    say(-1);
  }
}

function once<T>(key: string, read: (bytes: Uint8Array) => T): Promise<T> {
  const known = kept.get(key) as Promise<T> | undefined;
  kept.delete(key); // the map is in the order of last use
  const answer = known ?? get(key).then(read);
  kept.set(key, answer);
  if (!known) answer.catch(() => kept.delete(key));
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return answer;
}

const asJson = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as unknown;

/** An answer in JSON. */
export function askJson<T>(document: number, question: string, parameters: Parameters = {}): Promise<T> {
  return once(path(document, question, parameters), asJson) as Promise<T>;
}

/** An answer in Arrow. */
export function askTable(document: number, question: string, parameters: Parameters = {}): Promise<Columns> {
  return once(path(document, question, parameters), (bytes) => Columns.from(bytes));
}

/** An answer in Arrow that is not kept here, because who asks keeps it: tiles of timelines. */
export async function askUnkept(document: number, question: string, parameters: Parameters): Promise<Columns> {
  return Columns.from(await get(path(document, question, parameters)));
}

export interface DocumentLine {
  number: number;
  label: string;
  path: string;
  /** Not known before it was opened. */
  kind: "trace" | "run" | null;
  is_open: boolean;
}

export function askDocuments(): Promise<DocumentLine[]> {
  return once("documents", asJson) as Promise<DocumentLine[]>;
}
