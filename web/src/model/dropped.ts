// The files of what was dropped or chosen, with their paths: folders are walked, up to as many files as can be sent.
import type { DroppedFile } from "../data/opening";

/** More than the server takes: it says what its limit is. */
const MOST_FILES = 200_001;

/** A file or a folder as browsers hand it over. */
export interface Entry {
  isFile: boolean;
  isDirectory: boolean;
  name: string;
  file?(done: (file: File) => void, failed: (error: unknown) => void): void;
  createReader?(): { readEntries(done: (entries: Entry[]) => void, failed: (error: unknown) => void): void };
}

/** All files of entries, those of folders below the names of the folders. */
export async function filesOf(entries: Entry[], most = MOST_FILES): Promise<DroppedFile[]> {
  const files: DroppedFile[] = [];
  const waiting = entries.map((entry) => ({ entry, below: "" }));
  for (let item = waiting.pop(); item && files.length < most; item = waiting.pop()) {
    const { entry, below } = item;
    const path = below + entry.name;
    if (entry.isFile) files.push({ path, file: await new Promise<File>((done, failed) => entry.file?.(done, failed)) });
    else for (const child of await childrenOf(entry)) waiting.push({ entry: child, below: `${path}/` });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Browsers hand over some at a time, and none at the end. */
async function childrenOf(folder: Entry): Promise<Entry[]> {
  const reader = folder.createReader?.();
  const all: Entry[] = [];
  while (reader) {
    const some = await new Promise<Entry[]>((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    all.push(...some);
  }
  return all;
}

/** What was dropped: to be called while the event is handled, because it is empty afterwards. */
export function droppedFiles(data: DataTransfer): { label: string; list: () => Promise<DroppedFile[]> } | null {
  const items = [...data.items].filter(({ kind }) => kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry() as Entry | null);
  const plain = items.map((item) => item.getAsFile());
  if (!items.length) return null;
  const names = entries.map((entry, at) => entry?.name ?? plain[at]?.name ?? "");
  const label = names.length > 1 ? `${names[0]} and ${names.length - 1} more` : (names[0] ?? "");
  return {
    label,
    list: async () => {
      const walked = await filesOf(entries.filter((entry) => entry !== null));
      const rest = plain.filter((file, at): file is File => file !== null && !entries[at]);
      return [...walked, ...chosenFiles(rest)];
    },
  };
}

/** What was chosen in a dialog of the browser. */
export function chosenFiles(files: File[]): DroppedFile[] {
  return files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}
