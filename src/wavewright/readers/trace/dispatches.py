"""The dispatches of raw captures and of decoded traces, with their kernels, found without decoding them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from wavewright.base.words import counted, some_of
from wavewright.errors import WavewrightError
from wavewright.model.losses import Loss
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.capture import Capture, Window
from wavewright.readers.files.decoded_traces import DecodedTrace
from wavewright.readers.files.dispatches import Contents, Dispatch, with_keys
from wavewright.readers.trace.assemble import add_losses
from wavewright.readers.trace.buffers import Buffers

T = TypeVar("T")
_NOTED = 8  #: A note names at most so many other dispatches.
_MOST_PER_BYTE = 2  #: Instructions of a raw buffer: no token is shorter than 4 bits (spec_rdna, token tables).
_FEWEST_JSON_BYTES = 10  #: Of an instruction of a wave file: five numbers in brackets (spec_ui_output 5).
SCANNED_BYTES = 1 << 20  #: Of each buffer, where the kernel entries are looked for first.


def raw_dispatches(capture: Capture, top: Path | None = None) -> list[Dispatch[Window]]:
    """The dispatches of a raw capture; `top` is the folder that was searched."""
    dispatches = []
    for window in capture.windows:
        folder = window.files[0].path.parent
        path = folder.relative_to(top) if top is not None and folder.is_relative_to(top) else folder
        looks: dict[str, Any] = {
            "size": lambda window=window: (window.byte_count,),
            "look": partial(_in_window, capture, window),
            "instruction_count_max": lambda window=window: window.byte_count * _MOST_PER_BYTE,
        }
        below = "" if path == Path() else str(path)
        dispatches.append(Dispatch(window, window.dispatch, window.agent, window.pid, below, "", **looks))
    return with_keys(dispatches)


def decoded_dispatches(candidates: Sequence[DecodedTrace], top: str = "") -> list[Dispatch[DecodedTrace]]:
    """The dispatches among decoded traces; `top` is the path where they were found."""
    dispatches = []
    for candidate in candidates:
        folder, _, name = candidate.folder.label.removeprefix(top).strip("/!").replace("!", "/").rpartition("/")
        looks: dict[str, Any] = {
            "size": lambda c=candidate: (not c.is_placeholder, c.wave_bytes, c.byte_count),
            "look": partial(_in_folder, candidate),
            "instruction_count_max": lambda c=candidate: c.wave_bytes / _FEWEST_JSON_BYTES,
        }
        name = name or candidate.folder.name
        dispatches.append(Dispatch(candidate, candidate.dispatch, candidate.agent, None, folder, name, **looks))
    return with_keys(dispatches)


def name_dispatch(trace: ThreadTrace, choice: Dispatch[T], possible: Sequence[Dispatch[T]], *, is_asked: bool) -> None:
    """Record in the trace which dispatch it is, and the keys of the others of the input.

    Where nobody asked for this one, a note lists the others.
    """
    others = [dispatch.key for dispatch in possible if dispatch.key != choice.key]
    trace.source = replace(trace.source, dispatch_key=choice.key, other_dispatches=tuple(others))
    if others and not is_asked:
        note = f"showing dispatch {choice.key}; {counted(len(others), 'more dispatches')} here: "
        add_losses(trace, [Loss("other_dispatches", len(others), detail=note + some_of(others, _NOTED))])


def _in_window(capture: Capture, window: Window) -> Contents:
    """Kernels at the start of the buffers; what cannot be read has neither kernels nor waves."""
    from wavewright import _core
    from wavewright.readers.trace import assemble
    from wavewright.readers.trace.code import kernels_entered

    buffers = Buffers(window.files)
    no_code = _core.Program()
    no_code.link()
    try:
        buffers.check()
        records = buffers.count(no_code, first_bytes=SCANNED_BYTES)
        tables = assemble.short_tables_of(records, [0] * len(records))
        kernels = kernels_entered(capture.code_of(window), buffers.heads(), assemble.entries_of(tables))
    except WavewrightError:
        return Contents(has_waves=False)
    is_long = any(file.byte_count > SCANNED_BYTES for file in window.files)
    traced_kernels = _entered(tables["waves"], kernels)
    others = kernels.filter(~kernels["kernel"].is_in(traced_kernels["kernel"].implode()))
    if not traced_kernels.height:
        traced_kernels, others = kernels, traced_kernels
    has_waves = is_long or tables["waves"].height > 0
    factors = (max(1.0, file.byte_count / SCANNED_BYTES) for file in window.files)
    count = round(sum(record.instruction_count * factor for record, factor in zip(records, factors, strict=True)))
    estimate = None if is_long and not count else count
    return Contents(_pairs(traced_kernels), has_waves, _pairs(others), is_partial=is_long, instruction_count=estimate)


def _entered(waves: pl.DataFrame, kernels: pl.DataFrame) -> pl.DataFrame:
    """The kernels that traced waves entered, the most frequent first."""
    place = {"code_object": "entry_code_object", "address": "entry_address"}
    counts = waves.select(**place).group_by(*place).len()
    return kernels.join(counts, on=list(place)).sort("len", "kernel", descending=[True, False])


def _in_folder(candidate: DecodedTrace) -> Contents:
    if candidate.is_placeholder:
        return Contents(has_waves=False)
    try:
        kernels, count = _stored_kernels(candidate)
    except WavewrightError:
        return Contents(has_waves=False)
    return Contents(_pairs(kernels), has_waves=candidate.wave_count > 0, instruction_count=count)


def _stored_kernels(candidate: DecodedTrace) -> tuple[pl.DataFrame, int | None]:
    """The kernels, and the executions of all code rows; None = the writer left them out."""
    if candidate.form == "parquet":
        from wavewright.readers.trace.parquet import read_parquet

        return read_parquet(candidate.folder).kernels, candidate.instruction_count
    from wavewright.readers.trace.ui_output.code import read_code
    from wavewright.readers.trace.ui_output.occupancy import occupancy_tables, read_occupancy

    code = read_code(candidate.folder)
    kernels = occupancy_tables(read_occupancy(candidate.folder), code).tables["kernels"]
    return kernels, sum(hits for hits, *_ in code.totals) or None


def _pairs(kernels: pl.DataFrame) -> tuple[tuple[str, str], ...]:
    return tuple(kernels.select("name", "demangled").iter_rows())
