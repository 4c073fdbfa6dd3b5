// Questions to the server: each is asked once while its answer is cached, also when several views want it at the same time.
import { signal } from "@preact/signals";
import { OF_TIME } from "./answers.gen";
import { Columns } from "./columns";
import { CANCELLED, source } from "./source";

export type Parameters = Record<string, string | number>;

/** Answers, and the sum of their sizes as they were received. */
const MAX_CACHED = 400;
const MAX_CACHED_BYTES = 128 << 20;

interface CacheEntry {
  answer: Promise<unknown>;
  /** The answer, once it has arrived: an object, because the answer itself may be undefined or null. */
  value?: { value: unknown };
  /** Size as received; 0 = not arrived yet. */
  bytes: number;
  /** How many wait for it and may let go; when the last one does before it arrived, it is asked no longer. */
  holders: number;
  stop: AbortController;
}

const cache = new Map<string, CacheEntry>();
let cacheBytes = 0;

/** Parameters are in the order of their names: an exported page finds its answers by this (`key_of` of page/protocol/payload.py). */
export function path(number: number, question: string, parameters: Parameters): string {
  const query = Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${encodeURIComponent(parameters[name] ?? "")}`);
  return `${number}/${question}${query.length ? `?${query.join("&")}` : ""}`;
}

/** When each question that waits for its answer was asked (`performance.now`), the oldest first. */
const openSince = new Map<symbol, number>();

/** Asks, and says on the root element how many questions are open: what tests and benchmarks wait for. */
async function countedAsOpen(key: string, ask: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const showCount = () => {
    document.documentElement.dataset.asking = String(openSince.size);
  };
  const token = Symbol(key);
  openSince.set(token, performance.now());
  showCount();
  try {
    return await ask();
  } finally {
    openSince.delete(token);
    showCount();
  }
}

/** When the question was asked that waits longest for its answer; null = all are answered. */
export function oldestQuestion(): number | null {
  return openSince.values().next().value ?? null;
}

/** Browsers open six connections to a server: what views ask, which may take long, leaves two of them to tiles. */
const MOST_OF_VIEWS = 4;
let takenByViews = 0;
/** Each starts a question that waits for a connection, the first that was asked first. */
const waitingForConnection: (() => void)[] = [];

/** Asks when a connection is free for a question of a view. */
async function askInTurn(key: string, stop: AbortSignal): Promise<Uint8Array> {
  if (takenByViews < MOST_OF_VIEWS) takenByViews++;
  else await connectionFreed(stop);
  try {
    return await source.get(key, stop);
  } finally {
    const startNext = waitingForConnection.shift();
    if (startNext)
      startNext(); // which takes over the connection: as many are taken as before
    else takenByViews--;
  }
}

function connectionFreed(stop: AbortSignal): Promise<void> {
  return new Promise<void>((start, refuse) => {
    waitingForConnection.push(start);
    stop.addEventListener("abort", () => {
      const place = waitingForConnection.indexOf(start);
      if (place < 0) return; // it was started meanwhile
      waitingForConnection.splice(place, 1);
      refuse(CANCELLED);
    });
  });
}

/** The entry of a question in the cache; if there is none, it is asked. */
function entryOf(key: string, read: (bytes: Uint8Array) => unknown): CacheEntry {
  const cached = cache.get(key);
  if (cached) {
    cache.delete(key); // the map is in the order of last use
    cache.set(key, cached);
    return cached;
  }
  const stop = new AbortController();
  const entry: CacheEntry = { answer: Promise.resolve(), bytes: 0, holders: 0, stop };
  entry.answer = countedAsOpen(key, () => askInTurn(key, stop.signal)).then((bytes) => {
    entry.bytes = bytes.byteLength;
    if (cache.get(key) === entry) cacheBytes += entry.bytes;
    evict();
    const value = read(bytes);
    entry.value = { value };
    return value;
  });
  cache.set(key, entry);
  entry.answer.catch(() => drop(key, entry)); // what failed is asked again by whoever wants it next
  evict();
  return entry;
}

/** An answer that is waited for; who lets go does not want it any more. */
export interface Held<T> {
  answer: Promise<T>;
  release: () => void;
}

/** The answer to a question, asked if it is not cached; it goes on while anybody holds it. */
function hold<T>(key: string, read: (bytes: Uint8Array) => unknown): Held<T> {
  const entry = entryOf(key, read);
  entry.holders += 1;
  let isHeld = true;
  const release = () => {
    if (isHeld) entry.holders -= 1;
    isHeld = false;
    if (entry.holders || entry.value) return;
    drop(key, entry);
    entry.stop.abort();
  };
  return { answer: entry.answer as Promise<T>, release };
}

function drop(key: string, entry: CacheEntry): void {
  if (cache.get(key) !== entry) return;
  cache.delete(key);
  cacheBytes -= entry.bytes;
}

/** Drops the least recently used entries, but never the newest. */
function evict(): void {
  for (const [key, entry] of cache) {
    if ((cache.size <= MAX_CACHED && cacheBytes <= MAX_CACHED_BYTES) || cache.size === 1) return;
    drop(key, entry);
  }
}

const asJson = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as unknown;

const asColumns = (bytes: Uint8Array) => Columns.from(bytes);

type Given = string | number | boolean | null | undefined | Given[] | { readonly [name: string]: Given };

/**
 * A question as a value: its key holds everything that its answer depends on, so two questions with one key have one
 * answer, and what was asked for one key is never shown for another. Only this module makes them.
 */
class Question<T> {
  constructor(
    readonly key: string,
    private readonly now: () => { value: T } | undefined,
    private readonly later: () => Held<T>,
  ) {}

  /** The answer if it is here already. */
  peek(): { value: T } | undefined {
    return this.now();
  }

  answer(): Promise<T> {
    return this.later().answer;
  }

  /** The same for who may let go of it: with the last of them the work on it ends. */
  held(): Held<T> {
    return this.later();
  }

  /**
   * The same question with its answer read in some way. `read` is a named function that uses nothing but its arguments
   * (tools/check_questions.mjs looks): whatever else the reading depends on is given here and becomes part of the key.
   */
  as<U, G extends Given[]>(read: (value: T, ...given: G) => U, ...given: G): Question<U> {
    return new Question(
      `${this.key} as ${read.name}${JSON.stringify(given)}`,
      () => {
        const cached = this.now();
        return cached && { value: read(cached.value, ...given) };
      },
      () => {
        const { answer, release } = this.later();
        return { answer: answer.then((value) => read(value, ...given)), release };
      },
    );
  }
}

export type { Question };

function question<T>(key: string, read: (bytes: Uint8Array) => unknown): Question<T> {
  return new Question<T>(
    key,
    () => cache.get(key)?.value as { value: T } | undefined,
    () => hold(key, read),
  );
}

/** The part of the time of a document that is asked about wherever that is possible; null = the whole time. */
export const askedTime = signal<{ document: number; begin: number; end: number } | null>(null);

function ofTime(document: number, name: string, parameters: Parameters): Parameters {
  const part = askedTime.value;
  if (part?.document !== document || !OF_TIME.has(name)) return parameters;
  return { ...parameters, begin: part.begin, end: part.end };
}

/** A question whose answer is JSON; about the part of the time that is asked about, where the question knows parts. */
export function json<T>(document: number, name: string, parameters: Parameters = {}): Question<T> {
  return question<T>(path(document, name, ofTime(document, name, parameters)), asJson);
}

/** A question whose answer is a table in Arrow; about a part of the time, as `json`. */
export function arrow(document: number, name: string, parameters: Parameters = {}): Question<Columns> {
  return question<Columns>(path(document, name, ofTime(document, name, parameters)), asColumns);
}

/** Several questions as one: it is answered when all are. */
export function together<T extends readonly Question<unknown>[]>(
  ...parts: T
): Question<{ -readonly [I in keyof T]: T[I] extends Question<infer A> ? A : never }> {
  type Answers = { -readonly [I in keyof T]: T[I] extends Question<infer A> ? A : never };
  return new Question<Answers>(
    `[${parts.map((part) => part.key).join(", ")}]`,
    () => {
      const cached = parts.map((part) => part.peek());
      return cached.every((entry) => entry !== undefined)
        ? { value: cached.map((entry) => entry.value) as unknown as Answers }
        : undefined;
    },
    () => {
      const held = parts.map((part) => part.held());
      const answer = Promise.all(held.map((part) => part.answer)) as Promise<unknown> as Promise<Answers>;
      const release = () => {
        for (const part of held) part.release();
      };
      return { answer, release };
    },
  );
}

/** The answer in JSON, for callers that do not show it: views hold questions (`useAnswer`). */
export function askJson<T>(document: number, name: string, parameters: Parameters = {}): Promise<T> {
  return json<T>(document, name, parameters).answer();
}

/** The answer in Arrow, for callers that do not show it. */
export function askTable(
  document: number,
  name: string,
  parameters: Parameters = {},
  stop?: AbortSignal,
): Promise<Columns> {
  const { answer, release } = arrow(document, name, parameters).held();
  stop?.addEventListener("abort", release);
  return answer;
}

/** An answer in Arrow that is not cached here, because the caller caches it: tiles of timelines. */
export async function askUncached(
  document: number,
  question: string,
  parameters: Parameters,
  stop?: AbortSignal,
): Promise<Columns> {
  const key = path(document, question, parameters);
  return Columns.from(await countedAsOpen(key, () => source.get(key, stop)));
}

export interface DocumentLine {
  number: number;
  label: string;
  path: string;
  /** The same whenever it is opened: what is kept about it is kept under this. */
  identity?: string;
  /** Not known before it was opened. */
  kind: "trace" | "run" | "counters" | "store" | null;
  is_open: boolean;
}

/** The documents; `again`: as they are now, because some have been opened since. */
export function askDocuments(again = false): Promise<DocumentLine[]> {
  const cached = cache.get("documents");
  if (again && cached) drop("documents", cached);
  return hold<DocumentLine[]>("documents", asJson).answer;
}
