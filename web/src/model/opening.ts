// What is being opened from the page: files on their way, recent inputs, and what went wrong.
import { signal } from "@preact/signals";
import { askRecent, type DroppedFile, giveUp, put, type Recent } from "../data/opening";
import type { AnswerError } from "../data/source";
import { loadDocuments } from "./document";
import { asAnswerError } from "./loaded";
import { openCommand } from "./user_storage";

export interface Transfer {
  /** What is on its way, in words. */
  label: string;
  phase: "listing" | "sending" | "reading";
  files: number;
  sent: number;
  bytes: number;
}

export const openIsShown = signal(false);
/** Null = nothing is on its way. */
export const transfer = signal<Transfer | null>(null);
export const openProblem = signal<AnswerError | null>(null);
export const recent = signal<Recent | null>(null);

const PIECE_BYTES = 4 << 20;

/** A request with more files than this would take the server too long. */
const PIECE_FILES = 1000;

/** Where to cut the bytes of files, one after the other, into pieces of bounded length and number of files. */
export function pieceEnds(sizes: number[], most: number, mostFiles = PIECE_FILES): number[] {
  const ends: number[] = [];
  let [end, last, files] = [0, 0, 0];
  for (const size of sizes) {
    end += size;
    files += 1;
    for (; end - last > most; last += most) ends.push(last + most);
    if (files >= mostFiles && end > last) {
      ends.push(end);
      [last, files] = [end, 0];
    }
  }
  return end > last ? [...ends, end] : ends;
}

let show: (document: number) => void = () => {};

/** `app/main.tsx` says how a document is shown that was opened from the page. */
export function onOpened(how: (document: number) => void): void {
  show = how;
}

let stop: AbortController | null = null;

export function cancelTransfer(): void {
  stop?.abort();
}

export async function loadRecent(): Promise<void> {
  recent.value = await askRecent().catch(() => null);
}

export async function forgetRecent(id: string): Promise<void> {
  await put(`recent/${id}/forgotten`, "{}").catch(() => {});
  await loadRecent();
}

export function openRecent(id: string, label: string): Promise<void> {
  return opened({ label, phase: "reading", files: 0, sent: 0, bytes: 0 }, async () => `recent/${id}/opened`);
}

/** Sends files to the server and shows what they are; `list` finds them, which takes its time for a large folder. */
export function openFiles(label: string, list: () => Promise<DroppedFile[]>): Promise<void> {
  return opened({ label, phase: "listing", files: 0, sent: 0, bytes: 0 }, async (signal) => {
    const files = await list();
    const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
    transfer.value = { label, phase: "sending", files: files.length, sent: 0, bytes };
    const listed = JSON.stringify({ files: files.map(({ path, file }) => ({ path, bytes: file.size })) });
    const { upload, piece_bytes } = await put<{ upload: string; piece_bytes: number }>("uploads", listed, signal);
    const leave = () => giveUp(upload);
    addEventListener("pagehide", leave);
    try {
      const all = new Blob(files.map(({ file }) => file)); // read by the browser piece by piece
      const sizes = files.map(({ file }) => file.size);
      let at = 0;
      for (const end of pieceEnds(sizes, Math.min(PIECE_BYTES, piece_bytes))) {
        await put(`uploads/${upload}/bytes?at=${at}`, all.slice(at, end), signal);
        at = end;
        transfer.value = { label, phase: "sending", files: files.length, sent: at, bytes };
      }
    } catch (error) {
      leave();
      throw error;
    } finally {
      removeEventListener("pagehide", leave);
    }
    return `uploads/${upload}/opened`;
  });
}

/** One at a time: `prepare` gives what to ask the server for, which reads it. */
async function opened(first: Transfer, prepare: (signal: AbortSignal) => Promise<string>): Promise<void> {
  if (transfer.value) return;
  stop = new AbortController();
  const { signal } = stop;
  openProblem.value = null;
  transfer.value = first;
  try {
    const ask = await prepare(signal);
    signal.throwIfAborted();
    transfer.value = { ...(transfer.value ?? first), phase: "reading" };
    const { document } = await put<{ document: number }>(ask, "{}");
    await loadDocuments(true);
    openCommand.value = ""; // no command line shows what was dropped
    openIsShown.value = false;
    show(document);
  } catch (error) {
    if (!signal.aborted) openProblem.value = asAnswerError(error);
  } finally {
    transfer.value = null;
    stop = null;
  }
}
