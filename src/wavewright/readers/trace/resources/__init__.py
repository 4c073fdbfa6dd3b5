"""Registers, LDS, workgroup size and GPU of a trace, from sidecars: files next to it or named by the user.

`sidecars` reads facts out of one file, `matches` decides which of them are about the kernels of the trace.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from wavewright.base.files import NO_FILE, read_regular
from wavewright.base.shown import shown
from wavewright.errors import UsageError
from wavewright.model.losses import Loss, refused_losses
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.folder import Directory, Folder
from wavewright.readers.trace.assemble import add_losses
from wavewright.readers.trace.resources.matches import ResourceMatches, kernel_facts, target_of
from wavewright.readers.trace.resources.sidecars import CODE_SUFFIXES, Sidecar, is_sidecar, read_sidecar
from wavewright.readers.trace.resources.usage import SidecarFacts, TraceKernels, plain_name

#: Larger and further files next to a trace are only read when named: opening a trace must stay fast.
MAX_BESIDE_BYTES = 32 << 20
MAX_BESIDE_FILES = 64  #: Of a folder, the first by name.
NEAR_FOLDERS = 2  #: The trace's own folder and its parent.


def with_resources(trace: ThreadTrace, paths: Sequence[str | os.PathLike[str]]) -> ThreadTrace:
    """A copy of the trace with the resources of its kernels and the GPU that files record.

    `paths` are rocprofv3 CSVs (`*_kernel_trace.csv`, `*_agent_info.csv`), `*_results.json[.gz]`, code objects, or
    folders of these. They replace what was found beside the trace, but not what the capture's own code objects say.
    Raises `UsageError` when a path does not exist, or tells nothing about the kernels of the trace.
    """
    sidecars = [sidecar for path in paths for sidecar in _sidecars_of(Path(path))]
    trace.table("code")  # made now: what it loses belongs to the copy as well
    enriched_trace = replace(trace, tables=dict(trace.tables), answers={})
    matches = fill_from(enriched_trace, sidecars, replace_known=True)
    _note_refused(enriched_trace, [Directory(path) for path in map(Path, paths) if path.is_dir()], is_sidecar)
    if paths and not matches.kernels and not matches.target:
        problem = "nothing here about the kernels of the trace: " + ", ".join(trace.kernels["name"].head(3).to_list())
        where = ", ".join(map(str, paths))
        problems = "; ".join(matches.problems[:2])
        advice = "give the kernel trace or code object of the same run"
        raise UsageError(problem, where=where, kept=problems, advice=advice)
    return enriched_trace


def fill_from(trace: ThreadTrace, sidecars: Iterable[Sidecar], *, replace_known: bool = False) -> ResourceMatches:
    """Put what the files say into the trace itself; what is ambiguous or unreadable becomes a note."""
    facts, trace_kernels = SidecarFacts(), _trace_kernels(trace)
    for sidecar in sidecars:
        read_sidecar(sidecar, trace_kernels, facts)
    return _fill(trace, facts, replace_known=replace_known)


def fill_from_around(trace: ThreadTrace, around: Sequence[Folder], *, with_code: bool = True) -> None:
    """Fill in facts from the files next to a trace: the first two folders are its own and its parent.

    Without `with_code` code objects are left out: a raw capture has read its own.

    Folders further away count only if they show that they belong to the same run: they name a kernel of the trace,
    or hold the raw trace of its dispatch.
    """

    def is_read(name: str) -> bool:
        return is_sidecar(name) and (with_code or not name.endswith(CODE_SUFFIXES))

    # The reader of a decoded folder notes itself what is refused in it; that of a raw capture looks at its traces only.
    _note_refused(trace, around[1:] if with_code else around, is_read)
    if not any(is_read(name) for folder in around for name in _names(folder)):
        return
    facts, trace_kernels = SidecarFacts(), _trace_kernels(trace)
    raw_trace = f"_{trace.source.agent}_shader_engine_"
    for distance, folder in enumerate(around):
        folder_facts = SidecarFacts()
        for sidecar in sidecars_in(folder):
            if is_read(sidecar.name):
                read_sidecar(sidecar, trace_kernels, folder_facts)
        if distance < NEAR_FOLDERS or folder_facts.usages or any(raw_trace in name for name in _names(folder)):
            facts.add(folder_facts)
    _fill(trace, facts, replace_known=False)


def _trace_kernels(trace: ThreadTrace) -> TraceKernels:
    kernels = trace.kernels
    names = frozenset(plain_name(name) for name in (*kernels["name"], *kernels["demangled"]) if name)
    return TraceKernels(names, frozenset(kernels["code_object"].drop_nulls().to_list()), trace.source.dispatch)


def _fill(trace: ThreadTrace, facts: SidecarFacts, *, replace_known: bool) -> ResourceMatches:
    matches = kernel_facts(trace, facts, replace_known=replace_known)
    target, origin = target_of(trace, facts, matches)
    trace.tables["kernels"] = matches.kernel_table
    if target and (replace_known or trace.source.target is None):
        matches.target = target
        trace.source = replace(trace.source, target=target, target_origin=origin)
    add_losses(trace, [Loss("resources_ambiguous", detail=detail) for detail in matches.ambiguous])
    add_losses(trace, [Loss("resources_unread", detail=detail) for detail in matches.problems])
    return matches


def sidecars_in(folder: Folder) -> Iterator[Sidecar]:
    """Files of a folder that may have facts, by their names; too large ones are left out."""
    names = sorted(name for name in _names(folder) if is_sidecar(name))
    for name in names[:MAX_BESIDE_FILES]:
        path = folder.path_of(name)
        try:
            size = path.stat().st_size if path else len(folder.read(name))
        except OSError:
            continue
        if size <= MAX_BESIDE_BYTES:
            yield Sidecar(name, shown(name), size, partial(folder.read, name))


def _names(folder: Folder) -> Collection[str]:
    try:
        return folder.names()
    except UsageError:  # a folder next to the trace that may not be read
        return ()


def _note_refused(trace: ThreadTrace, folders: Iterable[Folder], is_read: Callable[[str], bool]) -> None:
    """Add a loss for links that lead out of a folder, and special files, that would have been read otherwise."""
    refusals: dict[str, str] = {}
    for folder in folders:
        with suppress(UsageError):  # a folder next to the trace that may not be read
            refusals |= {name: reason for name, reason in folder.refused().items() if is_read(name)}
    add_losses(trace, refused_losses(refusals))


def _sidecars_of(path: Path) -> Iterator[Sidecar]:
    """The file that a user named, whatever its name; of a folder those that have the names of sidecars."""
    if not path.exists():
        raise UsageError("no such file or folder", where=str(path))
    if path.is_dir():
        yield from sidecars_in(Directory(path))
        return
    if not path.is_file():
        raise UsageError(NO_FILE, where=str(path))  # a pipe would be waited for
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(path)) from error
    yield Sidecar(path.name, shown(path.name), size, partial(read_regular, path))
