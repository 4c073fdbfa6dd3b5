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
  fileCount: number;
  sentBytes: number;
  totalBytes: number;
}

export const openIsShown = signal(false);
/** Null = nothing is on its way. */
export const transfer = signal<Transfer | null>(null);
export const openProblem = signal<AnswerError | null>(null);
export const recent = signal<Recent | null>(null);

/** Bytes of one request: few enough that progress moves and a cancelled upload ends soon. */
const PIECE_BYTES = 4 << 20;

/** A request with more files than this would take the server too long. */
const PIECE_FILES = 1000;

/**
 * Where to cut the bytes of files, one after the other, into pieces of bounded length and number of files: the end of
 * each piece. A long file is cut anywhere; after the last one that a piece may have, the piece ends with the file.
 */
export function pieceEnds(sizes: number[], maxBytes: number, maxFiles = PIECE_FILES): number[] {
  const ends: number[] = [];
  let [pieceStart, end, fileCount] = [0, 0, 0];
  for (const size of sizes) {
    end += size;
    fileCount += 1;
    for (; end - pieceStart > maxBytes; pieceStart += maxBytes) ends.push(pieceStart + maxBytes);
    if (fileCount >= maxFiles && end > pieceStart) {
      ends.push(end);
      [pieceStart, fileCount] = [end, 0];
    }
  }
  return end > pieceStart ? [...ends, end] : ends;
}

let showDocument: (document: number) => void = () => {};

/** `app/main.tsx` says how a document is shown that was opened from the page. */
export function onOpened(how: (document: number) => void): void {
  showDocument = how;
}

/** Of the transfer on its way; null = there is none. */
let transferAbort: AbortController | null = null;

export function cancelTransfer(): void {
  transferAbort?.abort();
}

export async function loadRecent(): Promise<void> {
  recent.value = await askRecent().catch(() => null);
}

export async function forgetRecent(id: string): Promise<void> {
  await put(`recent/${id}/forgotten`, "{}").catch(() => {});
  await loadRecent();
}

export function openRecent(id: string, label: string): Promise<void> {
  const initial: Transfer = { label, phase: "reading", fileCount: 0, sentBytes: 0, totalBytes: 0 };
  return openDocument(initial, async () => `recent/${id}/opened`);
}

/** Sends files to the server and shows what they are; `list` finds them, which takes its time for a large folder. */
export function openFiles(label: string, list: () => Promise<DroppedFile[]>): Promise<void> {
  const initial: Transfer = { label, phase: "listing", fileCount: 0, sentBytes: 0, totalBytes: 0 };
  return openDocument(initial, async (abortSignal) => sendFiles(label, await list(), abortSignal));
}

/** Sends files piece by piece; gives the path that asks the server to open them. */
async function sendFiles(label: string, files: DroppedFile[], abortSignal: AbortSignal): Promise<string> {
  const sizes = files.map(({ file }) => file.size);
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  const sending: Transfer = { label, phase: "sending", fileCount: files.length, sentBytes: 0, totalBytes };
  transfer.value = sending;
  const listed = JSON.stringify({ files: files.map(({ path, file }) => ({ path, bytes: file.size })) });
  const { upload, piece_bytes } = await put<{ upload: string; piece_bytes: number }>("uploads", listed, abortSignal);
  const abandonUpload = () => giveUp(upload);
  addEventListener("pagehide", abandonUpload);
  try {
    const content = new Blob(files.map(({ file }) => file)); // read by the browser piece by piece
    let pieceStart = 0;
    for (const pieceEnd of pieceEnds(sizes, Math.min(PIECE_BYTES, piece_bytes))) {
      await put(`uploads/${upload}/bytes?at=${pieceStart}`, content.slice(pieceStart, pieceEnd), abortSignal);
      pieceStart = pieceEnd;
      transfer.value = { ...sending, sentBytes: pieceEnd };
    }
  } catch (error) {
    abandonUpload();
    throw error;
  } finally {
    removeEventListener("pagehide", abandonUpload);
  }
  return `uploads/${upload}/opened`;
}

/**
 * Opens a document and shows it; does nothing while another one is on its way. `prepare` sends what the server needs
 * and gives the path that asks it to read that; `initial` is on screen until it says more. What goes wrong is in
 * `openProblem`, except that the user cancelled.
 */
async function openDocument(initial: Transfer, prepare: (abortSignal: AbortSignal) => Promise<string>): Promise<void> {
  if (transfer.value) return;
  transferAbort = new AbortController();
  const abortSignal = transferAbort.signal;
  openProblem.value = null;
  transfer.value = initial;
  try {
    const path = await prepare(abortSignal);
    abortSignal.throwIfAborted();
    transfer.value = { ...(transfer.value ?? initial), phase: "reading" };
    // Without the signal: the server reads to the end, and a document that nobody shows would be left open.
    const { document } = await put<{ document: number }>(path, "{}");
    await loadDocuments(true);
    openCommand.value = ""; // no command line shows what was dropped
    openIsShown.value = false;
    showDocument(document);
  } catch (error) {
    if (!abortSignal.aborted) openProblem.value = asAnswerError(error);
  } finally {
    transfer.value = null;
    transferAbort = null;
  }
}
