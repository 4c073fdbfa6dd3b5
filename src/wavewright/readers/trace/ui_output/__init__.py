"""Decoded directories (`ui_output_agent_<agent>_dispatch_<n>`, docs/formats/ui_output.md) into a `ThreadTrace`."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

import msgspec
import polars as pl

from wavewright import _core
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.code import CodeFile, read_code
from wavewright.readers.trace.ui_output.manifest import Manifest, read_manifest
from wavewright.readers.trace.ui_output.markers import read_annotations
from wavewright.readers.trace.ui_output.occupancy import OccupancyFile, RawOccupancy, occupancy_tables, read_occupancy
from wavewright.readers.trace.ui_output.parts import read_bytes, readable
from wavewright.readers.trace.ui_output.waves import read_waves, wave_tables, with_kernels

#: People add text to the names of directories: before, between and after.
_NAME = re.compile(r"agent_(\d{1,18})_dispatch_(\d{1,18})")
_FILES = ("filenames.json", "code.json", "occupancy.json")
T = TypeVar("T")


def read_ui_output(folder: Folder, threads: int | None = None) -> ThreadTrace:
    """Read a decoded directory, `threads` wave files at once (None = as many as there are cores).

    Raises `NotATraceError` when it is no decoded directory; `UsageError` when the folder cannot be read.
    """
    manifest = read_manifest(folder)
    if not manifest.waves and not any(name in folder.names() for name in _FILES):
        problem = "neither filenames.json nor code.json, occupancy.json or wave files are here"
        raise NotATraceError(problem, where=folder.label, advice="a decoded directory is called ui_output_*")
    code = read_code(folder)
    add_inline_frames(folder, code)
    # Both go on while polars is imported, which takes about as long.
    waves = in_background(lambda: read_waves(folder, manifest.waves, code.lines, threads or 0))
    occupancy = in_background(lambda: read_occupancy(folder, required=manifest.has_thread_trace))
    return _assembled(folder, manifest, code, waves, occupancy)


def _assembled(
    folder: Folder,
    manifest: Manifest,
    code: CodeFile,
    waves: Future[dict[str, _core.Table]],
    raw_occupancy: Future[RawOccupancy],
) -> ThreadTrace:
    from wavewright.model.losses import loss_frame
    from wavewright.readers.trace.ui_output.clocks import read_clocks, shader_engine_table
    from wavewright.readers.trace.ui_output.markers import MarkerNames, marker_table
    from wavewright.readers.trace.ui_output.sources import read_snapshots, source_table
    from wavewright.readers.trace.ui_output.streams import read_streams
    from wavewright.readers.trace.waits import match_waits

    occupancy = occupancy_tables(raw_occupancy.result(), code)
    clocks, streams = read_clocks(folder), read_streams(folder, manifest)
    losses = [*manifest.losses, *code.losses, *occupancy.losses, *clocks.losses, *streams.losses]
    snapshots = read_snapshots(folder, losses)
    annotations = read_annotations(folder, code.positions, losses)
    names = MarkerNames(code.marker_rows)
    if names.unreadable:
        losses.append(Loss("marker_names", names.unreadable, detail="code.json"))
    waves_and_rows, wave_losses = wave_tables(waves.result(), manifest.waves)
    tables = waves_and_rows | occupancy.tables | streams.tables | code.sample_tables()
    tables["waves"] = with_kernels(tables["waves"], tables["occupancy"])
    tables["realtime"] = clocks.realtime
    tables["annotations"] = annotations
    tables["stored_totals"] = code.stored_totals()
    engines = {file.se for file in manifest.waves} | occupancy.engines | clocks.engines | streams.engines
    tables["shader_engines"] = shader_engine_table(engines, manifest.gfxip, clocks.frequency_hz, tables["waves"])
    losses += wave_losses + _emptiness(manifest, code, occupancy, tables["waves"])
    tables["losses"] = loss_frame(losses)
    lazy_tables: dict[str, Callable[[], pl.DataFrame]] = {}
    trace = ThreadTrace(tables, _source(folder, manifest, code), lazy_tables)
    lazy_tables["code"] = lambda: code.table(manifest.gfxip, trace.source.target)
    lazy_tables["waits"] = lambda: match_waits(trace.instructions, trace.code, manifest.gfxip)
    lazy_tables["markers"] = lambda: marker_table(names, trace.shader_data, trace.occupancy)
    lazy_tables["sources"] = lambda: source_table(folder, snapshots, trace.code)
    return trace


def _source(folder: Folder, manifest: Manifest, code: CodeFile) -> TraceSource:
    match = _NAME.search(folder.name)
    samples_only = not manifest.waves and (manifest.has_samples or code.has_sample_columns)
    return TraceSource(
        path=folder.label,
        agent=int(match[1]) if match else None,
        dispatch=int(match[2]) if match else None,
        format="PC sampling" if samples_only else "ui_output",
    )


def _emptiness(manifest: Manifest, code: CodeFile, occupancy: OccupancyFile, waves: pl.DataFrame) -> list[Loss]:
    """Losses that say why there are no waves, when there are none."""
    if waves.height or manifest.has_samples or code.samples:
        return []
    events = occupancy.tables["occupancy"].height
    if events:
        return [Loss("no_waves", detail=f"{events:,} wave starts and ends were seen, all on other CUs")]
    if not code.lines and not manifest.waves:
        return [Loss("placeholder")]
    if manifest.waves or code.has_executions:
        return []  # waves ran: `missing_files` and `totals_disagree` say what became of them
    return [Loss("no_waves", detail="the directory has no wave")]


def in_background(work: Callable[[], T]) -> Future[T]:
    """Start `work` in a thread of its own: native code that releases the interpreter lock, while polars is imported."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again by `result`
            future.set_exception(error)

    try:
        Thread(target=run).start()  # no daemon: Python must not end under native code
    except RuntimeError:  # no more threads to be had
        run()
    return future


# --- inline_frames.json of ROCm WaveScope: calls through which inlined code was reached, which code.json may lack ---
FILE_NAME = "inline_frames.json"
VERSION = 2
_LEAST_MATCHED = 0.5  #: Share of its addresses that the code must have; else it is of another build.
_CHAIN = " -> "


class _File(msgspec.Struct):
    """The keys that are read."""

    version: int = 0
    files: list[str] = []
    #: `<code object>:<address>` -> frames, the outermost first: function, file of the call or -1, line, column.
    stacks: dict[str, list[tuple[int, int, int, int]]] = {}


def add_inline_frames(folder: Folder, code: CodeFile) -> None:
    """Lengthen the chains of rows that have only their innermost place; what does not fit is a loss."""
    if FILE_NAME not in folder.names():
        return
    content = read_bytes(folder, FILE_NAME, code.losses)
    if content is None:
        return
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        code.losses.append(Loss("inline_frames", detail=f"it cannot be read ({error})"))
        return
    if file.version != VERSION:
        code.losses.append(Loss("inline_frames", detail=f"it is of version {file.version}, and {VERSION} is known"))
        return
    rows = {f"{code_object}:{address}": row for row, (code_object, address) in enumerate(code.places)}
    frames_of_row = {rows[key]: frames for key, frames in file.stacks.items() if key in rows}
    if len(frames_of_row) < _LEAST_MATCHED * len(file.stacks):
        counts = f"{len(frames_of_row):,} of its {len(file.stacks):,} addresses are in this code"
        code.losses.append(Loss("inline_frames", detail=f"{counts}: it is of another build"))
        return
    for row, frames in frames_of_row.items():
        place = code.chains[row]
        if place and _CHAIN not in place:
            calls = [(number, line) for _, number, line, _ in reversed(frames) if 0 <= number < len(file.files)]
            places = (f"{readable(file.files[number])}:{line if line > 0 else '?'}" for number, line in calls)
            code.chains[row] = _CHAIN.join([place, *places])
