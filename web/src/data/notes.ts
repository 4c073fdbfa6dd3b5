// Notes beside a trace: read when the page starts, written only when the user asks for it.
import { errorFrom, type SentError } from "./answer_error";
import { AnswerError, source } from "./source";

export interface StoredNote {
  id: string;
  text: string;
  /** The part of the page's URL after `#`. */
  address: string;
  /** ISO time. */
  created: string;
  /** Of a flag: its time, in the unit of the document. */
  time?: number | null;
  /** Of a flag: number of its colour. */
  colour?: number | null;
  /** Who wrote it, as they call themselves; empty = not said. */
  author?: string | null;
  /** ISO time of the last change; null = as it was created. */
  change_time?: string | null;
}

export interface StoredNotes {
  notes: StoredNote[];
  saved_at: string | null;
  can_save: boolean;
}

/** Bounds of notes, those of `page/protocol/notes.py`. */
const MOST_NOTES = 2000;
const MOST_BYTES = 1 << 20;
const LONGEST_TEXT = 10_000;
const LONGEST: Record<string, number> = { id: 100, text: LONGEST_TEXT, address: LONGEST_TEXT, created: 40 };
const LONGEST_OPTIONAL: Record<string, number> = { author: 100, change_time: 40 };

/** Files and storage hold what others wrote. */
export function isNote(value: unknown): value is StoredNote {
  const note = (value ?? {}) as Record<string, unknown>;
  const isText = (name: string, most: number) => typeof note[name] === "string" && note[name].length <= most;
  const isNumber = (name: string) => note[name] == null || Number.isFinite(note[name]);
  return (
    ["time", "colour"].every(isNumber) &&
    Object.entries(LONGEST).every(([name, most]) => isText(name, most)) &&
    Object.entries(LONGEST_OPTIONAL).every(([name, most]) => note[name] == null || isText(name, most))
  );
}

/** Those of a list that are notes, as many as there may be. */
export function sound(list: unknown): StoredNote[] {
  return Array.isArray(list) ? list.filter(isNote).slice(0, MOST_NOTES) : [];
}

export async function loadNotes(document: number): Promise<StoredNotes> {
  try {
    const own = source.isExport ? notesInPage()[document] : undefined;
    if (own) return { notes: sound(own), saved_at: null, can_save: false };
    const stored = JSON.parse(new TextDecoder().decode(await source.get(`${document}/notes`))) as StoredNotes;
    return { ...stored, notes: sound(stored.notes) };
  } catch (error) {
    if (!source.isExport) throw error;
    return { notes: [], saved_at: null, can_save: false }; // a page of an earlier version
  }
}

/** The element with the notes. */
const ID = "notes";

/** By number of the document, what was saved into this file behind its answers. */
function notesInPage(): Record<number, unknown> {
  const text = document.getElementById(ID)?.textContent;
  if (!text) return {};
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))));
  } catch {
    return {}; // someone else's change of the file: its answers are as good as before
  }
}

/** The elements that the exporter wrote, before anything was added. */
const HEAD = typeof document === "undefined" ? [] : [...document.head.children];
/** The elements with the answers and the licences. */
const DATA = 'script[id^="answers"], script#licences';

/**
 * This exported page as a file again, with notes by number of document. It is put together of what the exporter wrote, not
 * of the page as it is drawn now: the head, the element of the app, the answers, the notes, and the code at the end.
 */
export function pageWithNotes(notes: Record<number, StoredNote[]>): Blob {
  const outer = (elements: Iterable<Element>) => [...elements].flatMap((element) => [element.outerHTML, "\n"]);
  const code = [...document.querySelectorAll<HTMLScriptElement>('script[type="module"]:not([src])')].slice(0, 1);
  const parts = [
    '<!doctype html>\n<html lang="en">\n<head>\n',
    ...outer(HEAD),
    "</head>\n<body>\n",
    ...outer([emptyApp(), ...document.querySelectorAll(DATA)]),
    `<script type="text/plain" id="${ID}">${encoded(notes)}</script>\n`,
    ...outer(code),
    "</body>\n</html>\n",
  ];
  return new Blob(parts, { type: "text/html" });
}

/** Notes in base64, which means nothing in HTML, whatever their texts are. */
function encoded(notes: Record<number, StoredNote[]>): string {
  const bytes = new TextEncoder().encode(JSON.stringify(notes));
  if (bytes.length > MOST_BYTES || Object.values(notes).some((list) => list.length > MOST_NOTES)) {
    const most = `${MOST_NOTES.toLocaleString("en")} notes of ${MOST_BYTES.toLocaleString("en")} bytes`;
    const [kept, advice] = ["they stay in this browser", "remove some"];
    throw new AnswerError(`more than ${most} do not fit into a page`, { kept, advice });
  }
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** The element of the app before anything was drawn, with the place at which the page starts. */
function emptyApp(): HTMLElement {
  const app = document.createElement("div");
  app.id = "app";
  const at = document.getElementById("app")?.dataset.at;
  if (at) app.dataset.at = at;
  app.textContent = "Loading…";
  return app;
}

export async function saveNotes(document: number, notes: StoredNote[]): Promise<StoredNotes> {
  const request = { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ notes }) };
  const response = await fetch(`api/${document}/notes`, request).catch(() => null);
  if (!response) throw new AnswerError("the server does not answer", { kept: "the notes stay in this browser" });
  const answer = (await response.json()) as StoredNotes & { error?: SentError };
  if (answer.error) throw errorFrom({ ...answer.error, kept: "" });
  return answer;
}
