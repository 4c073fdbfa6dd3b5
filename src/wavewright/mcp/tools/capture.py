"""The tools `open_capture` and `list_captures`: which captures there are, what one is, what can be asked about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from wavewright.base.shown import quoted
from wavewright.base.words import counted
from wavewright.mcp.captures import Capture, Captures
from wavewright.mcp.declared import USUAL_ROWS
from wavewright.mcp.reply import Offer, Reply
from wavewright.mcp.rows import Rows, cursor, start_of
from wavewright.mcp.suggestions import MOST, suggested_calls
from wavewright.mcp.topic_answers import losses_of, reply_of
from wavewright.model.blocks import Block, Column, Sentence, Table
from wavewright.model.document import DOCUMENTS, Document
from wavewright.model.next_question import NextQuestion
from wavewright.model.report import Section
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.question import Wording
from wavewright.readers.files.decoded_traces import form_of
from wavewright.readers.files.kinds import document_at

_ROWS = 3  #: Of each table of `open_capture`.
_NOTES = 3  #: Notes on the reading of a capture.
_DISPATCHES = 5  #: Other dispatches that a note names.


def open_capture(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """Open the capture at a path and describe it."""
    chosen = {name: arguments.get(name, "") for name in ("dispatch", "target")}
    capture = captures.add(arguments["path"], wanted=arguments.get("kind", ""), **chosen)
    say(f"reading {capture.name}")
    document = captures.document(capture)
    say("looking at what it holds")
    section = question_of(document.kind, "about").section(document, None, Wording(limit=_ROWS))
    headline = f"{capture.handle} is {DOCUMENTS[document.kind]}: {capture.name}"
    section = replace(section, blocks=(Sentence(headline, "headline"), *section.blocks))
    reply = reply_of(section, capture, document, limit=_ROWS)
    first = [NextQuestion("diagnose", {}, "what to change first"), *section.next_questions]
    others = _also_here(capture, document)
    offers = suggested_calls(first, document.kind, capture.handle)
    return replace(
        reply,
        offers=(*offers[: MOST - len(others)], *others),
        links=(f"wavewright open {quoted(capture.name)}",),
        notes=_notes(document),
    )


def _notes(document: Document) -> tuple[str, ...]:
    notes = losses_of(document, "note")[:_NOTES]
    if document.kind != "trace":
        return notes
    others = document.trace.source.other_dispatches
    more = ", ..." if len(others) > _DISPATCHES else ""
    named = ", ".join(map(str, others[:_DISPATCHES])) + more
    return (*notes, *([f"other dispatches here (give `dispatch` to open_capture): {named}"] if others else []))


def _also_here(capture: Capture, document: Document) -> tuple[Offer, ...]:
    """Calls that open the counters in a run, or the run beside traces."""
    if document.kind == "run" and capture.path.is_file() and document.run.count("counter_info"):
        return (Offer("open_capture", {"path": capture.name, "kind": "counters"}, "its hardware counters"),)
    if document.kind == "trace" and not capture.wanted and capture.path.is_dir() and _has_run(capture):
        return (Offer("open_capture", {"path": capture.name, "kind": "run"}, "the run beside the traces"),)
    return ()


def _has_run(capture: Capture) -> bool:
    from wavewright.errors import WavewrightError
    from wavewright.readers.run.inputs import find_runs

    try:
        return any(not run_input.refused for run_input in find_runs([capture.path]))
    except WavewrightError:
        return False


MOST_FOLDERS, MOST_FILES = 2_000, 5_000  #: That `list_captures` looks at.
_DEEPEST = 8  #: Levels of folders below a root.
#: How the names of files end that may be captures, and how those of workload folders begin.
_SUFFIXES = (
    ".db", ".rpd", ".csv", ".json", ".pb", ".att", ".tar", ".tgz", ".zip", ".gz", ".xz", ".zst", ".bz2", ".rpdb",
)  # fmt: skip
_COUNTER_FILES = ("pmc_perf", "SQ_", "sysinfo")


def list_captures(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """The captures below the roots, or below one folder, in the order of their paths."""
    roots = captures.roots
    folders = [roots.path(arguments["under"])] if arguments.get("under") else list(roots.folders)
    say("looking into folders")
    seen = {"folders": 0, "files": 0}
    listed = {roots.relative(path): kind for folder in folders for path, kind in _below(folder, roots.holds, seen)}
    opened = {capture.name: capture.handle for capture in captures.named}
    rows = [(opened.get(name), kind, name) for name, kind in sorted(listed.items())]
    start = start_of("list_captures", arguments)
    limit = arguments.get("limit", USUAL_ROWS)
    page = tuple(rows[start : start + limit])
    is_cut = seen["folders"] >= MOST_FOLDERS or seen["files"] >= MOST_FILES
    cut_note = f"only {MOST_FOLDERS:,} folders and {MOST_FILES:,} files were looked at; give `under`"
    headline = f"{counted(len(rows), 'captures')} below {arguments.get('under') or 'the roots'}"
    texts = tuple((handle or "", kind, name) for handle, kind, name in page)
    title = f"rows {start + 1:,} to {start + len(page):,} of {len(rows):,}" if page else ""
    columns = (Column("handle"), Column("kind"), Column("path", is_name=True))
    blocks: list[Block] = [Sentence(headline, "headline")]
    blocks += [Table(title, columns, texts)] if page else []
    return Reply(
        headline,
        (Section("captures", "Captures", "Which captures are there?", tuple(blocks)),),
        (Rows("captures", ("handle", "kind", "path"), page, len(rows), start),),
        offers=tuple(Offer("open_capture", {"path": name}, kind) for _, kind, name in page[:3]),
        notes=(cut_note,) if is_cut else (),
        cursor_of=partial(cursor, "list_captures", arguments),
    )


def _below(top: Path, holds: Callable[[Path], bool], seen: dict[str, int]) -> Iterator[tuple[Path, str]]:
    """Captures at and below a path with their kind: folders of traces and workloads as one, other files each."""
    if top.is_file():
        kind = document_at(top)
        yield from [(top, kind)] if kind else []
        return
    folders = [(top, 0)]
    while folders and seen["folders"] < MOST_FOLDERS and seen["files"] < MOST_FILES:
        folder, depth = folders.pop()
        seen["folders"] += 1
        try:
            entries = sorted(filter(_is_there, os.scandir(folder)), key=lambda entry: entry.name)
        except OSError:
            continue
        names = [entry.name for entry in entries if entry.is_file() and holds(Path(entry.path))]
        whole = _whole(folder, names)
        if whole:
            yield folder, whole
        if whole and form_of(names):
            continue
        for name in names:
            if _may_be_capture(name, is_whole=bool(whole)):
                seen["files"] += 1
                kind = document_at(folder / name)
                if kind:
                    yield folder / name, kind
        if depth < _DEEPEST:
            inner = [Path(entry.path) for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
            folders += [(path, depth + 1) for path in reversed(inner) if not path.is_symlink()]


def _whole(folder: Path, names: list[str]) -> str | None:
    """The kind of a folder whose files belong together; None = each file is for itself."""
    is_workload = any(name.startswith(_COUNTER_FILES) and name.endswith(".csv") for name in names)
    is_raw = any(name.endswith(".att") for name in names)
    return document_at(folder) if form_of(names) or is_raw or is_workload else None


def _may_be_capture(name: str, *, is_whole: bool) -> bool:
    if name.startswith(".") or name.endswith(".wavewright-notes.json"):
        return False
    return name.endswith((".db", ".rpd") if is_whole else _SUFFIXES)


def _is_there(entry: os.DirEntry[str]) -> bool:
    """True if an entry is a file or a folder, and not a link to nothing or to itself."""
    try:
        return entry.is_file() or entry.is_dir()
    except OSError:
        return False
