"""Raw thread traces (`.att`): find the files, load the code, decode all shader engines, assemble the tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UnsupportedError, WavescopeError
from wavescope.model.files import listed, read_regular
from wavescope.model.losses import Loss
from wavescope.model.thread_trace import ThreadTrace, TraceSource
from wavescope.readers._assemble import add_losses
from wavescope.readers.capture import Capture, CodeObjectFile, Window, find_capture
from wavescope.readers.sniff import Generation, generation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from wavescope import _core
    from wavescope.readers.code import Code


__all__ = ["decode", "decode_window"]


def decode(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    code_objects: Sequence[str] = (),
    threads: int | None = None,
    *,
    dispatch: int | None = None,
    shader_engines: Iterable[int] | None = None,
    corrected: bool = False,
    source_root: str | os.PathLike[str] | None = None,
) -> ThreadTrace:
    """Decode one dispatch window of a raw capture.

    Parameters
    ----------
    paths
        A capture folder, or `.att` files of shader engines.
    code_objects
        `FILE[@LOAD_ADDRESS][:ID]` each: an ELF code object or a listing (`*.isa.tsv`, `code.json`). Those that
        stand beside the traces are found by themselves.
    threads
        How many shader engines to decode at once; None = as many as there are cores.
    dispatch
        Which dispatch; None = the one with the most bytes (`trace.source.other_dispatches` lists the rest).
    shader_engines
        Only these; None = all.
    corrected
        Repair what AMD's decoder gets plainly wrong instead of being equal to it
        (`docs/explanation/differences.md`).
    source_root
        Folder below which source files named by debug lines may be read; None = read no source text.

    Raises
    ------
    UsageError
        When a path does not exist or the choice is empty.
    NotATraceError, UnsupportedError
        When none of the files is a thread trace of a known generation.

    Examples
    --------
    >>> trace = decode("capture/", dispatch=3)  # doctest: +SKIP
    >>> trace.instructions.group_by("row").agg(pl.col("stall_cycles").sum())  # doctest: +SKIP
    """
    chosen = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    everything = find_capture([Path(path) for path in chosen], code_objects)
    possible = everything.only(dispatch=dispatch, shader_engines=shader_engines)
    window = possible.best()
    trace = decode_window(everything, window, threads=threads, corrected=corrected, source_root=source_root)
    if len(possible.windows) > 1:
        others = ", ".join(str(w.dispatch) for w in possible.windows if w is not window)
        add_losses(trace, [Loss("other_dispatches", len(possible.windows) - 1, detail=f"dispatch {others}")])
    return trace


def decode_window(
    capture: Capture,
    window: Window,
    *,
    threads: int | None = None,
    corrected: bool = False,
    source_root: str | os.PathLike[str] | None = None,
) -> ThreadTrace:
    """Decode one window of a capture that `find_capture` found; see `decode`.

    Examples
    --------
    >>> capture = find_capture(["capture/"])  # doctest: +SKIP
    >>> traces = [decode_window(capture, window) for window in capture.windows]  # doctest: +SKIP
    """
    from wavescope.readers import _assemble
    from wavescope.readers.funcmap import with_marker_names
    from wavescope.readers.waits import match_waits

    buffers, losses = _read(window)
    code, records = _with_code(capture.code_of(window), buffers, corrected=corrected, threads=threads or 0)
    engines = [file.se or 0 for file in window.files]
    core_tables = _assemble.tables_of(records, engines)
    entries = _assemble.entries_of(core_tables)
    tables = _assemble.with_kernel_numbers(core_tables, entries)
    tables["shader_engines"] = _assemble.shader_engine_frame(records, engines, [f.path.name for f in window.files])
    tables["kernels"] = code.kernels_at(entries)
    tables["markers"] = with_marker_names(core_tables["markers"], code.program)
    for record, se in zip(records, engines, strict=True):
        losses += _assemble.losses_of_core(record, se)
    losses += code.losses + code.missing_for(entries)
    if capture.refused:
        losses.append(Loss("not_followed", len(capture.refused), detail=listed(capture.refused)))
    if not tables["waves"].height:
        losses.append(Loss("no_waves", detail=_why_no_waves(tables["occupancy"].height)))
    tables["losses"] = _assemble.loss_frame(losses)
    lazy_tables: dict[str, Callable[[], pl.DataFrame]] = {}
    trace = ThreadTrace(tables, _source(capture, window, code.target), lazy_tables)
    lazy_tables["code"] = lambda: _code_table(trace, code)
    gfxip = max(record.gfxip for record in records)
    lazy_tables["waits"] = lambda: match_waits(trace.instructions, trace.code, gfxip)
    lazy_tables["sources"] = lambda: _source_table(trace, source_root)
    return trace


def _code_table(trace: ThreadTrace, code: Code) -> pl.DataFrame:
    """The `code` table; what the debug lines lost joins the trace's losses, because only now it is known."""
    table = code.table(max(trace.instructions["row"].unique().to_list(), default=-1))
    add_losses(trace, code.line_losses)
    return table


def _source_table(trace: ThreadTrace, source_root: str | os.PathLike[str] | None) -> pl.DataFrame:
    """The `sources` table; what was not read below the folder joins the trace's losses."""
    from wavescope.readers.sources import read_sources

    refused: dict[str, str] = {}
    table = read_sources(trace.code, source_root, refused)
    add_losses(trace, [Loss("not_followed", len(refused), detail=listed(refused))] if refused else [])
    return table


def _with_code(
    files: Sequence[CodeObjectFile], buffers: Sequence[bytes], *, corrected: bool, threads: int
) -> tuple[Code, list[_core.Records]]:
    """Decode with as little disassembly as possible, and once more with all of it if PCs are missing."""
    from wavescope import _core
    from wavescope.readers.code import load_code

    code = load_code(files, buffers)
    records = _core.decode(buffers, code.program, corrected=corrected, threads=threads)
    if code.is_partial and any(len(_core.tables(record)["losses"]) for record in records):
        code = load_code(files, buffers, whole=True)
        records = _core.decode(buffers, code.program, corrected=corrected, threads=threads)
    return code, records


def _source(capture: Capture, window: Window, target: str | None) -> TraceSource:
    others = [w.dispatch for w in capture.windows if w.agent == window.agent and w.dispatch != window.dispatch]
    return TraceSource(
        path=str(window.files[0].path.parent),
        agent=window.agent,
        dispatch=window.dispatch,
        target=target,
        other_dispatches=tuple(number for number in others if number is not None),
    )


def _why_no_waves(occupancy_events: int) -> str:
    if occupancy_events:
        return f"{occupancy_events:,} wave starts and ends were seen, all on other CUs"
    return "the trace has no wave at all"


def _read(window: Window) -> tuple[list[bytes], list[Loss]]:
    """The bytes of every file; files that are no trace become losses unless none is one."""
    buffers: list[bytes] = []
    losses: list[Loss] = []
    problems: list[WavescopeError] = []
    for file in window.files:
        data, problem = b"", None
        try:
            data = read_regular(file.path)
            problem = _problem(data, str(file.path))
        except OSError as error:
            what = f"cannot be read ({error.strerror})"
            problem = NotATraceError(what, where=str(file.path))
        buffers.append(data)
        if problem is not None:
            problems.append(problem)
            losses.append(Loss("unreadable_trace", detail=f"{file.path.name}: {problem.what}", se=file.se))
        elif not data:
            losses.append(Loss("unreadable_trace", detail=f"{file.path.name}: empty file", se=file.se))
    if problems and len(problems) == len(window.files):
        raise problems[0]
    return buffers, losses


def _problem(data: bytes, where: str) -> WavescopeError | None:
    """Why these bytes cannot be decoded; None when they can. An empty file is a trace without records."""
    generation = generation_of(data[:8])
    if not data or generation not in (Generation.NONE, Generation.NEWER):
        if generation is Generation.GFX9 and len(data) == 8:
            what = "the header of a gfx9 trace and nothing behind it"
            return NotATraceError(what, where=where, advice="the trace buffer was empty: capture again")
        return None
    if len(data) < 8:
        what = f"{len(data)} bytes are too short for a thread trace (8 at least)"
        return NotATraceError(what, where=where, advice="check that the file was copied whole")
    if generation is Generation.NEWER:
        what = f"a thread trace of an unknown generation (header {data[:8].hex()} at offset 0)"
        return UnsupportedError(what, where=where, advice="a newer wavescope may know it")
    what = f"not a thread trace (header {data[:8].hex()} at offset 0)"
    return NotATraceError(what, where=where, advice="raw traces are the .att files that rocprofv3 --att writes")
