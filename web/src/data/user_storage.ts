// What the page stores for its user: in the user's configuration folder through the server, in the browser's own storage
// where there is no server (an exported page), or the server stores nothing.
import { errorFrom, type SentError } from "./answer_error";
import { AnswerError, source } from "./source";

export interface Stored {
  entries: Record<string, unknown>;
  /** The file; null = the server stores nothing. */
  place: string | null;
  /** Why something that is there was not read; else empty. */
  problem: string;
  /** What shows the same documents again, to be followed by `--at PLACE`; empty = not known. */
  command: string;
}

const PREFIX = "wavewright.";

function ofBrowser(): Stored {
  const entries: Record<string, unknown> = {};
  try {
    for (let n = 0; n < localStorage.length; n++) {
      const name = localStorage.key(n) ?? "";
      if (!name.startsWith(PREFIX)) continue;
      try {
        entries[name.slice(PREFIX.length)] = JSON.parse(localStorage.getItem(name) ?? "null");
      } catch {
        // not ours
      }
    }
  } catch {
    // without storage the settings are lost at the end, nothing else
  }
  return { entries, place: null, problem: "", command: "" };
}

function storeInBrowser(entries: Record<string, unknown>): void {
  try {
    for (const [key, value] of Object.entries(entries)) {
      if (value === null) localStorage.removeItem(PREFIX + key);
      else localStorage.setItem(PREFIX + key, JSON.stringify(value));
    }
  } catch {
    // without storage the settings are lost at the end, nothing else
  }
}

let isOfServer = false;

export async function loadStored(): Promise<Stored> {
  if (source.isExport) return ofBrowser();
  const stored = JSON.parse(new TextDecoder().decode(await source.get("kept"))) as Stored;
  isOfServer = stored.place !== null;
  return isOfServer ? stored : { ...ofBrowser(), command: stored.command };
}

/** Changes the keys that are given; null removes one. */
export async function saveStored(entries: Record<string, unknown>): Promise<void> {
  if (!isOfServer) {
    storeInBrowser(entries);
    return;
  }
  const body = JSON.stringify({ entries });
  const request = { method: "PUT", headers: { "Content-Type": "application/json" }, body };
  const response = await fetch("api/kept", request).catch(() => null);
  if (!response) throw new AnswerError("the server does not answer", { isConnection: true });
  const answer = (await response.json().catch(() => ({}))) as { error?: SentError };
  if (answer.error) throw errorFrom({ ...answer.error, kept: "" });
}
