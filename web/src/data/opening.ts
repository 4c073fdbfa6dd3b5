// Opening more: dropped files are sent to the server on this machine, and recent inputs are opened by it.
import { AnswerError, errorIn } from "./answer_error";
import { source } from "./source";

export interface DroppedFile {
  /** Names of its folders and its own, with slashes. */
  path: string;
  file: File;
}

export interface RecentInput {
  id: string;
  label: string;
  paths: string[];
  /** What it is, in words. */
  what: string;
  /** Seconds since 1970. */
  opened: number;
  is_there: boolean;
  /** Null = not there, or too many files to add up. */
  bytes: number | null;
}

export interface Recent {
  entries: RecentInput[];
  /** How much can be dropped, in words. */
  most_words: string;
}

export const canOpen = source.canOpen;

export async function askRecent(): Promise<Recent> {
  return JSON.parse(new TextDecoder().decode(await source.get("recent"))) as Recent;
}

export async function put<T>(path: string, body: Blob | string, stop?: AbortSignal): Promise<T> {
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  const request = { method: "PUT", headers: { "Content-Type": type }, body, signal: stop ?? null };
  let response: Response;
  try {
    response = await fetch(`api/${path}`, request);
  } catch (error) {
    if (stop?.aborted) throw error;
    const advice =
      "if the server was stopped, start `wavewright open` again; if files were changed or removed, drop them again";
    throw new AnswerError("the files could not be sent", { kept: "what is on screen stays", advice });
  }
  const text = await response.text();
  if (!response.ok) throw errorIn(text);
  return JSON.parse(text) as T;
}

/** Tells the server that an upload is given up, also when the page is being closed. */
export function giveUp(upload: string): void {
  const request = { method: "PUT", headers: { "Content-Type": "application/json" }, body: "{}", keepalive: true };
  fetch(`api/uploads/${upload}/given-up`, request).catch(() => {}); // it is given up by itself after a while
}
