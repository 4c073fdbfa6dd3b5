// Bookmarks with notes: kept for this user per document, and beside the trace when the user asks for it.
import { computed, signal } from "@preact/signals";
import { loadNotes, pageWithNotes, type StoredNote, saveNotes, sound } from "../data/notes";
import { source } from "../data/source";
import { annotations, colourNumber } from "./annotations";
import { current, documents } from "./document";
import { reveal, shown } from "./timewindow";
import { store, stored } from "./user_storage";

export type Note = StoredNote;

/** A note at a time: it stands on the axis of every timeline, and through its tracks. */
export interface Flag extends Note {
  time: number;
  colour: number;
  /** Of an annotation: it cannot be changed. */
  isOfOthers?: boolean;
}

export const notes = signal<Note[]>([]);
/** Annotations of others that are about a time, as flags. */
const flagsOfOthers = (): Flag[] =>
  annotations.value.flatMap((annotation) => {
    const { number, title, range } = annotation;
    if (!range) return [];
    const texts = { id: `annotation ${number}`, text: `${number} ${title}`, address: "", created: "" };
    return [{ ...texts, colour: colourNumber(annotation), time: range.begin, isOfOthers: true }];
  });

/** In the order of time, with those of annotations. */
export const flags = computed<Flag[]>(() =>
  notes.value
    .flatMap((note): Flag[] => (note.time == null ? [] : [{ ...note, time: note.time, colour: note.colour ?? 0 }]))
    .concat(flagsOfOthers())
    .sort((a, b) => a.time - b.time),
);
/** Where they were last saved beside the trace; null = nowhere. */
export const savedAt = signal<string | null>(null);
export const canSave = signal(false);
/** Whether something changed since they were saved beside the trace. */
export const isUnsaved = signal(false);

/** Whether this page is a file that can be saved again with the notes inside. */
export const isFile = source.isExport;

/** Pages from files are of one origin: the same label may stand for another export. */
export const identity = (document = current.value) => {
  const line = documents.value[document];
  return [line?.identity ?? line?.path ?? "", source.identity].filter(Boolean).join(" ");
};
const key = (document?: number) => `notes.${identity(document)}`;

const AUTHOR = "author";
/** How the user signs notes; empty = not at all. */
export const author = () => {
  const name = stored(AUTHOR);
  return typeof name === "string" ? name.slice(0, 100) : "";
};
export const setAuthor = (name: string) => store(AUTHOR, name.trim() || null);

/** ISO time: as a text it compares like the time. */
const lastChange = (note: Note) => note.change_time ?? note.created;

/** Both, in the order of the first; of two with the same id the one that was changed last. */
export function merged(first: Note[], second: Note[]): Note[] {
  const others = new Map(second.map((note) => [note.id, note]));
  const chosen = first.map((note) => {
    const other = others.get(note.id);
    others.delete(note.id);
    return other && lastChange(other) > lastChange(note) ? other : note;
  });
  return [...chosen, ...others.values()];
}

function keepNotes(next: Note[]): void {
  notes.value = next;
  isUnsaved.value = true;
  store(key(), next.length ? next : null);
}

/** The notes of the current document that are kept for this user. */
export function openNotes(): void {
  notes.value = sound(stored(key()));
  savedAt.value = null;
  canSave.value = false;
  isUnsaved.value = notes.value.length > 0;
  addStoredNotes().catch(() => {}); // flags among them are seen at once; the list of bookmarks says what went wrong
}

/** Adds those that were saved beside the trace. */
export async function addStoredNotes(): Promise<void> {
  const document = current.value;
  const stored = await loadNotes(document);
  if (document !== current.value) return;
  notes.value = merged(notes.value, stored.notes); // with those that were written meanwhile
  savedAt.value = stored.saved_at;
  canSave.value = stored.can_save;
  isUnsaved.value = notes.value.some(
    (note) => !stored.notes.some((other) => other.id === note.id && other.text === note.text),
  );
}

/** A new note; gives its id. With a time it is a flag. */
export function addNote(text: string, address: string, more: Pick<Note, "time" | "colour"> = {}): string {
  const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  const signed = author() ? { author: author() } : {};
  keepNotes([...notes.value, { id, text, address, created: new Date().toISOString(), ...signed, ...more }]);
  return id;
}

export const FLAG_COLOURS = 6;

/** A flag at a time; one that stands there already is not set twice. */
export function addFlag(time: number): string {
  const at = Math.round(time);
  const { begin, end } = shown.value;
  const address = `document=${current.value}&time=${Math.round(begin)}~${Math.round(end)}`;
  const count = flags.value.filter(({ isOfOthers }) => !isOfOthers).length;
  const there = flags.value.find((flag) => flag.time === at);
  return there?.id ?? addNote(`Flag ${count + 1}`, address, { time: at, colour: count % FLAG_COLOURS });
}

/** The flag that keys went to last. */
let lastFlag: string | null = null;

/**
 * Goes to the next flag, or to the one before (-1), from the one that was gone to last, round the ends; at first from the
 * middle of the screen. Gives its id; null = there are none.
 */
export function goToFlag(step: 1 | -1): string | null {
  const list = flags.value;
  const at = list.findIndex(({ id }) => id === lastFlag);
  const next = at < 0 ? flagBesideMiddle(step) : list[(at + step + list.length) % list.length];
  if (!next) return null;
  lastFlag = next.id;
  reveal(next.time);
  return next.id;
}

function flagBesideMiddle(step: 1 | -1): Flag | undefined {
  const list = flags.value;
  const middle = (shown.value.begin + shown.value.end) / 2;
  if (step > 0) return list.find(({ time }) => time > middle) ?? list[0];
  return list.findLast(({ time }) => time < middle) ?? list.at(-1);
}

export function changeNote(id: string, text: string, more: Pick<Note, "colour"> = {}): void {
  const change_time = new Date().toISOString();
  keepNotes(notes.value.map((note) => (note.id === id ? { ...note, ...more, text, change_time } : note)));
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

/** This exported page with the notes of all its documents, as a file for colleagues. */
export async function pageFile(): Promise<Blob> {
  const all: Record<number, Note[]> = {};
  for (const { number } of documents.value) {
    const own = number === current.value ? notes.value : sound(stored(key(number)));
    all[number] = number === current.value ? own : merged(own, (await loadNotes(number)).notes);
  }
  const file = pageWithNotes(all);
  isUnsaved.value = false;
  return file;
}
