// Opening from the page: the button, the dialog, what is dropped anywhere, and the page before anything is open.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { byteAmount, exact } from "../base/format";
import { canOpen, type RecentInput } from "../data/opening";
import { trouble } from "../model/connection";
import { documents, opening } from "../model/document";
import { chosenFiles, droppedFiles } from "../model/dropped";
import {
  cancelTransfer,
  forgetRecent,
  loadRecent,
  openFiles,
  openIsShown,
  openProblem,
  openRecent,
  recent,
  type Transfer,
  transfer,
} from "../model/opening";
import { Problem } from "../widgets/answered";
import "./open.css";

const NEEDS_PROGRAM =
  "This page is a file or part of a notebook: it shows what was put into it. To open something else, run `wavewright open` and drop it there.";
const CAN_BE_OPENED =
  "Thread traces (capture folders with .att files, ui_output directories), runs (ROCpd and RPD databases, CSV and JSON of rocprofv3, traces of PyTorch, JAX and Chrome), captures of hardware counters, and .zip, .tar, .tar.gz or .tar.xz of these.";

export function OpenButton() {
  if (!canOpen) return null;
  return (
    <button
      type="button"
      class="quiet"
      data-action="open"
      title="Open a file, a folder, an archive or a recent input"
      onClick={() => (openIsShown.value = true)}
    >
      Open
    </button>
  );
}

/** Everything about opening that is not the button: one line of the shell. */
export function Opening() {
  const isStart = canOpen && !documents.value.length && !opening.value && !trouble.value;
  return (
    <>
      <DropTarget />
      {isStart ? (
        <div class="start-page">
          <h1>Open something to look at</h1>
          <OpenArea />
        </div>
      ) : null}
      {!isStart && (openIsShown.value || transfer.value || openProblem.value) ? <OpenDialog /> : null}
    </>
  );
}

function OpenDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => (before as HTMLElement | null)?.focus?.();
  }, []);
  const close = () => {
    if (transfer.value) return;
    openIsShown.value = false;
    openProblem.value = null;
  };
  return (
    <dialog
      ref={dialog}
      class="dialog open-dialog"
      aria-label="Open"
      onKeyDown={(event) => event.stopPropagation()}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="dialog-head">
        <h2>Open</h2>
        <button type="button" class="quiet" aria-label="Close" disabled={transfer.value !== null} onClick={close}>
          ×
        </button>
      </div>
      <OpenArea />
    </dialog>
  );
}

function OpenArea() {
  const folder = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (folder.current) folder.current.webkitdirectory = true;
    void loadRecent();
  }, []);
  const choose = (input: HTMLInputElement) => {
    const chosen = [...(input.files ?? [])];
    input.value = "";
    const first = chosen[0]?.webkitRelativePath.split("/")[0] || chosen[0]?.name;
    const isFolder = Boolean(chosen[0]?.webkitRelativePath);
    if (!first) return;
    const label = chosen.length > 1 && !isFolder ? `${first} and ${chosen.length - 1} more` : first;
    void openFiles(label, async () => chosenFiles(chosen));
  };
  const moving = transfer.value;
  return (
    <div class="open-area">
      {openProblem.value ? <Problem error={openProblem.value} /> : null}
      {moving ? (
        <Progress moving={moving} />
      ) : (
        <div class="drop-zone">
          <p>
            <strong>Drop a capture folder, a file or an archive</strong> anywhere on this page
          </p>
          <p class="open-buttons">
            <button type="button" onClick={() => folder.current?.click()}>
              Choose a folder…
            </button>
            <button type="button" onClick={() => files.current?.click()}>
              Choose files…
            </button>
          </p>
          <p class="faint-text">{CAN_BE_OPENED}</p>
          <p class="faint-text">
            It is copied to a private folder of this machine, {recent.value?.most_words ?? ""}, and removed when the
            server ends. <code>wavewright open PATH</code> copies nothing.
          </p>
        </div>
      )}
      <input ref={folder} type="file" hidden data-open="folder" onChange={(event) => choose(event.currentTarget)} />
      <input
        ref={files}
        type="file"
        multiple
        hidden
        data-open="files"
        onChange={(event) => choose(event.currentTarget)}
      />
      <RecentInputs isBusy={moving !== null} />
    </div>
  );
}

const PHASES: Record<Transfer["phase"], string> = {
  listing: "Looking at the files of",
  sending: "Copying",
  reading: "Reading",
};

function Progress({ moving }: { moving: Transfer }) {
  const { label, phase, fileCount, sentBytes, totalBytes } = moving;
  return (
    <div class="drop-zone" role="status" data-phase={phase}>
      <p>
        {PHASES[phase]} <strong>{label}</strong>
        {phase === "sending"
          ? `: ${byteAmount(sentBytes)} of ${byteAmount(totalBytes)}, ${exact(fileCount)} files`
          : "…"}
      </p>
      <progress
        aria-label="Progress"
        {...(phase === "sending" ? { value: sentBytes, max: Math.max(totalBytes, 1) } : {})}
      />
      {phase === "reading" ? null : (
        <p>
          <button type="button" data-action="cancel" onClick={cancelTransfer}>
            Cancel
          </button>
        </p>
      )}
    </div>
  );
}

function RecentInputs({ isBusy }: { isBusy: boolean }) {
  const entries = recent.value?.entries ?? [];
  if (!entries.length) return null;
  return (
    <section class="recent">
      <h3>Recent, from the command line</h3>
      <ul>
        {entries.map((entry) => (
          <RecentLine key={entry.id} entry={entry} isBusy={isBusy} />
        ))}
      </ul>
    </section>
  );
}

function RecentLine({ entry, isBusy }: { entry: RecentInput; isBusy: boolean }) {
  const when = new Date(entry.opened * 1000);
  const facts = [
    entry.what,
    entry.is_there ? (entry.bytes === null ? "many files" : byteAmount(entry.bytes)) : "no longer there",
    when.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }),
  ];
  return (
    <li data-recent={entry.label}>
      <button
        type="button"
        class="recent-entry"
        disabled={isBusy || !entry.is_there}
        title={entry.paths.join("\n")}
        onClick={() => void openRecent(entry.id, entry.label)}
      >
        <strong>{entry.label}</strong>
        <span class="faint-text">{facts.join(" · ")}</span>
        <span class="faint-text recent-path">{entry.paths[0]}</span>
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={`Take ${entry.label} off the list`}
        disabled={isBusy}
        onClick={() => void forgetRecent(entry.id)}
      >
        ×
      </button>
    </li>
  );
}

const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Listens to what is dragged over the page; nothing is on screen until that is a file. */
function DropTarget() {
  const isOver = useSignal(false);
  const isRefused = useSignal(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      isOver.value = true;
      isRefused.value = false;
    };
    const leave = (event: DragEvent) => {
      if (!event.relatedTarget) isOver.value = false;
    };
    const drop = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      isOver.value = false;
      const given = event.dataTransfer && droppedFiles(event.dataTransfer);
      if (!canOpen) isRefused.value = true;
      else if (given) void openFiles(given.label, given.list);
    };
    const listeners = { dragover: over, dragleave: leave, drop } as const;
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener);
    };
  }, []);
  if (isRefused.value) {
    return (
      <div class="banner" role="status" data-banner="needs-program">
        <span title={NEEDS_PROGRAM}>{NEEDS_PROGRAM}</span>
        <button type="button" class="quiet" aria-label="Close" onClick={() => (isRefused.value = false)}>
          ×
        </button>
      </div>
    );
  }
  if (!isOver.value) return null;
  return <div class="drop-overlay">{canOpen ? "Drop to open" : "Only the running program can open files"}</div>;
}
