// Notes beside a trace: read when the page starts, written only when the user asks for it.
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
}

export interface StoredNotes {
  notes: StoredNote[];
  saved_at: string | null;
  can_save: boolean;
}

export async function loadNotes(document: number): Promise<StoredNotes> {
  try {
    return JSON.parse(new TextDecoder().decode(await source.get(`${document}/notes`))) as StoredNotes;
  } catch (error) {
    if (!source.isExport) throw error;
    return { notes: [], saved_at: null, can_save: false }; // a page of an earlier version
  }
}

export async function saveNotes(document: number, notes: StoredNote[]): Promise<StoredNotes> {
  const request = { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ notes }) };
  const response = await fetch(`api/${document}/notes`, request).catch(() => null);
  if (!response) throw new AnswerError("the server does not answer", "", "the notes stay in this browser");
  const answer = (await response.json()) as StoredNotes & { error?: Record<string, string> };
  if (answer.error) throw new AnswerError(answer.error.what ?? "", answer.error.where, "", answer.error.advice);
  return answer;
}
