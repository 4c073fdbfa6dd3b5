// Bookmarks with notes: kept for this user per document, and beside the trace when the user asks for it.
import { signal } from "@preact/signals";
import { loadNotes, type StoredNote, saveNotes } from "../data/notes";
import { current, documents } from "./document";
import { store, stored } from "./user_storage";

export type Note = StoredNote;

export const notes = signal<Note[]>([]);
/** Where they were last saved beside the trace; null = nowhere. */
export const savedAt = signal<string | null>(null);
export const canSave = signal(false);
/** Whether something changed since they were saved beside the trace. */
export const isUnsaved = signal(false);

/** Pages that were exported by an earlier version say only its path. */
const identity = () => {
  const line = documents.value[current.value];
  return line?.identity ?? line?.path ?? "";
};
const key = () => `notes.${identity()}`;

function isNote(value: unknown): value is Note {
  const note = (value ?? {}) as Record<string, unknown>;
  return ["id", "text", "address", "created"].every((name) => typeof note[name] === "string");
}

function keptNotes(): Note[] {
  const read = stored(key());
  return Array.isArray(read) ? read.filter(isNote) : [];
}

function keepNotes(next: Note[]): void {
  notes.value = next;
  isUnsaved.value = true;
  store(key(), next.length ? next : null);
}

/** The notes of the current document that are kept for this user. */
export function openNotes(): void {
  notes.value = keptNotes();
  savedAt.value = null;
  canSave.value = false;
  isUnsaved.value = notes.value.length > 0;
}

/** Adds those that were saved beside the trace. */
export async function addStoredNotes(): Promise<void> {
  const document = current.value;
  const stored = await loadNotes(document);
  if (document !== current.value) return;
  const notesNow = notes.value; // as they are now: notes written meanwhile are not lost
  const ids = new Set(notesNow.map((note) => note.id));
  notes.value = [...notesNow, ...stored.notes.filter((note) => !ids.has(note.id))];
  savedAt.value = stored.saved_at;
  canSave.value = stored.can_save;
  isUnsaved.value = notesNow.some(
    (note) => !stored.notes.some((other) => other.id === note.id && other.text === note.text),
  );
}

export function addNote(text: string, address: string): void {
  const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  keepNotes([...notes.value, { id, text, address, created: new Date().toISOString() }]);
}

export function changeNote(id: string, text: string): void {
  keepNotes(notes.value.map((note) => (note.id === id ? { ...note, text } : note)));
}

export function removeNote(id: string): void {
  keepNotes(notes.value.filter((note) => note.id !== id));
}

/** Write them beside the trace: only ever called by the button that says so. */
export async function saveBesideTrace(): Promise<void> {
  const stored = await saveNotes(current.value, notes.value);
  savedAt.value = stored.saved_at;
  isUnsaved.value = false;
}
