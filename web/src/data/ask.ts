// Questions to the server: each is asked once while its answer is kept, also when several views want it at the same time.
import { Columns } from "./columns";
import { source } from "./source";

export type Parameters = Record<string, string | number>;

const MOST_KEPT = 400;
const MOST_KEPT_BYTES = 128 << 20;

interface Kept {
  answer: Promise<unknown>;
  /** As they came; 0 = not here yet. */
  bytes: number;
}

const kept = new Map<string, Kept>();
let keptBytes = 0;

/** Parameters are in the order of their names: an exported page finds its answers by this (`key_of` of page/held.py). */
export function path(number: number, question: string, parameters: Parameters): string {
  const query = Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${encodeURIComponent(parameters[name] ?? "")}`);
  return `${number}/${question}${query.length ? `?${query.join("&")}` : ""}`;
}

/** When each question that is open was asked, the oldest first. */
const open = new Map<symbol, number>();

/** Asks, and says on the root element how many questions are open: what tests and benchmarks wait for. */
async function get(key: string): Promise<Uint8Array> {
  const say = () => {
    document.documentElement.dataset.asking = String(open.size);
  };
  const mine = Symbol(key);
  open.set(mine, performance.now());
  say();
  try {
    return await source.get(key);
  } finally {
    open.delete(mine);
    say();
  }
}

/** When the question was asked that waits longest for its answer; null = all are answered. */
export function oldestQuestion(): number | null {
  return open.values().next().value ?? null;
}

function once<T>(key: string, read: (bytes: Uint8Array) => T): Promise<T> {
  const known = kept.get(key);
  if (known) {
    kept.delete(key); // the map is in the order of last use
    kept.set(key, known);
    return known.answer as Promise<T>;
  }
  const entry: Kept = { answer: Promise.resolve(), bytes: 0 };
  const answer = get(key).then((bytes) => {
    entry.bytes = bytes.byteLength;
    if (kept.get(key) === entry) keptBytes += entry.bytes;
    forget();
    return read(bytes);
  });
  entry.answer = answer;
  kept.set(key, entry);
  answer.catch(() => drop(key, entry));
  forget();
  return answer;
}

function drop(key: string, entry: Kept): void {
  if (kept.get(key) !== entry) return;
  kept.delete(key);
  keptBytes -= entry.bytes;
}

/** Lets go of what was not used for longest, but never of the newest. */
function forget(): void {
  for (const [key, entry] of kept) {
    if ((kept.size <= MOST_KEPT && keptBytes <= MOST_KEPT_BYTES) || kept.size === 1) return;
    drop(key, entry);
  }
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
  kind: "trace" | "run" | "counters" | null;
  is_open: boolean;
}

export function askDocuments(): Promise<DocumentLine[]> {
  return once("documents", asJson) as Promise<DocumentLine[]>;
}
