// The list of bookmarks: go there, write a note, forget it, save all beside the trace.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AnswerError } from "../data/source";
import { textOf } from "../model/code";
import { asAnswerError } from "../model/loaded";
import {
  addNote,
  addStoredNotes,
  author,
  canSave,
  changeNote,
  isFile,
  isUnsaved,
  notes,
  pageFile,
  removeNote,
  saveBesideTrace,
  savedAt,
  setAuthor,
} from "../model/notes";
import { type Selection, selection } from "../model/selection";
import { storageFile } from "../model/user_storage";
import { Problem } from "../widgets/answered";
import { Dialog, DialogHead } from "../widgets/dialog";
import { save } from "../widgets/saving";
import { place } from "./location";

/** What is selected, in a few words: the text of a new bookmark. */
export function described(chosen: Selection): string {
  const parts: string[] = [];
  if (chosen.row !== undefined) parts.push(textOf(chosen.row) || `row ${chosen.row}`);
  if (chosen.sourceLine) parts.push(`${chosen.sourceLine.file.split("/").at(-1)}:${chosen.sourceLine.line}`);
  const kernel = chosen.kernelName ?? chosen.kernelRank ?? chosen.kernel;
  if (kernel !== undefined && chosen.row === undefined) parts.push(`kernel ${kernel}`);
  if (chosen.wave !== undefined) parts.push(`wave ${chosen.wave}`);
  if (chosen.range) parts.push(`${chosen.range.begin} to ${chosen.range.end}`);
  return parts.join(" · ") || "what is on screen";
}

/** A bookmark of what is on screen now. */
export function bookmark(): void {
  addNote(described(selection.value), place());
}

/** The name of this file without its end. */
function fileName(): string {
  const name = (location.pathname.split("/").at(-1) ?? "").replace(/\.html?$/i, "");
  return name.replace(/%20/g, " ") || "page";
}

export function Bookmarks({ close }: { close: () => void }) {
  const trouble = useSignal<AnswerError | null>(null);
  useEffect(() => {
    addStoredNotes().catch((error: unknown) => {
      trouble.value = asAnswerError(error);
    });
  }, [trouble]);
  const go = (address: string) => {
    location.hash = address;
    close();
  };
  return (
    <Dialog class="bookmarks" label="Bookmarks" close={close}>
      <DialogHead title="Bookmarks and notes" />
      <p>
        <button type="button" onClick={bookmark}>
          Bookmark what is selected (b)
        </button>{" "}
        <input
          type="text"
          aria-label="Your name"
          title="Signs what you write from now on"
          placeholder="Your name"
          maxLength={100}
          value={author()}
          onInput={(event) => setAuthor(event.currentTarget.value)}
        />
      </p>
      {notes.value.map((note) => (
        <div class="bookmark" key={note.id}>
          <textarea
            aria-label="Note"
            rows={2}
            value={note.text}
            maxLength={4000}
            onInput={(event) => changeNote(note.id, event.currentTarget.value)}
          />
          {note.author ? <span class="faint">{note.author}</span> : null}
          <button type="button" class="link" onClick={() => go(note.address)}>
            go there
          </button>
          <button type="button" class="quiet" aria-label="Remove" onClick={() => removeNote(note.id)}>
            ×
          </button>
        </div>
      ))}
      {notes.value.length ? null : (
        <p class="note">
          None yet. They are stored {storageFile.value ? `in ${storageFile.value}` : "in this browser"}.
        </p>
      )}
      {canSave.value && notes.value.length ? (
        <p>
          <button
            type="button"
            data-action="save-notes"
            disabled={!isUnsaved.value}
            onClick={() =>
              saveBesideTrace().catch((error: unknown) => {
                trouble.value = asAnswerError(error);
              })
            }
          >
            Save next to the trace
          </button>{" "}
          <span class="faint">{savedAt.value ? `saved in ${savedAt.value}` : "so far only for you"}</span>
        </p>
      ) : null}
      {isFile ? (
        <p>
          <button
            type="button"
            data-action="save-page"
            onClick={() => {
              trouble.value = null;
              save(fileName(), { format: "html", make: pageFile }).catch((error: unknown) => {
                trouble.value = asAnswerError(error);
              });
            }}
          >
            Save this page with the notes
          </button>{" "}
          <span class="faint">a file for colleagues, who can add theirs and save it again</span>
        </p>
      ) : null}
      {trouble.value ? <Problem error={trouble.value} /> : null}
    </Dialog>
  );
}
