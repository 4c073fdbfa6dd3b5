"""PC samples in `*_results.json` of rocprofv3 (docs/formats/pc-samples.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

import msgspec
import polars as pl

from wavewright.base.compression import PackedError, packing_of, unpacked_stream
from wavewright.base.files import open_regular
from wavewright.base.shown import quoted
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.readers.files.text import json_of, records_of
from wavewright.readers.trace.resources.sidecars import (
    NO_CORRELATION,
    Correlation,
    ResultFile,
    ResultProcess,
    ResultSymbol,
)
from wavewright.readers.trace.samples.records import NO_ENTRIES, NO_KERNELS, RECORD, SampleRecords

_BATCH = 1 << 15  #: Records that are Python objects at the same time.
_PIECE = 1 << 22
_MAGIC_BYTES = 8
_FIRST_SAMPLE = re.compile(rb'"pc_sample_(?:host_trap|stochastic)"\s*:\s*\[\s*\{')
_LONGEST_MATCH = 256  #: Bytes that a match of `_FIRST_SAMPLE` may take, with room for white space.
_I64 = 1 << 63
_U64 = 1 << 64


class _Place(msgspec.Struct, frozen=True, gc=False):
    code_object_id: int = 0
    code_object_offset: int = 0


class _Snapshot(msgspec.Struct, frozen=True, gc=False):
    stall_reason: str | None = None


class _Record(msgspec.Struct, frozen=True, gc=False):
    pc: _Place
    timestamp: int
    dispatch_id: int | None = None
    corr_id: Correlation = NO_CORRELATION
    wave_issued: int | bool | None = None
    wave_cnt: int | None = None
    snapshot: _Snapshot = _Snapshot()


class _Sample(msgspec.Struct, frozen=True, gc=False):
    record: _Record
    inst_index: int = -1


def holds_samples(file: Path) -> bool:
    """True if a result file has a PC sample; it is looked through, not parsed."""
    with suppress(OSError, PackedError), open_regular(file) as stream:
        packing = packing_of(stream.read(_MAGIC_BYTES))
        stream.seek(0)
        return _has_sample(unpacked_stream(stream, packing) if packing else iter(lambda: stream.read(_PIECE), b""))
    return False


def _has_sample(pieces: Iterable[bytes]) -> bool:
    earlier_bytes = b""  # a match may begin in one piece and end in the next
    for piece in pieces:
        if _FIRST_SAMPLE.search(earlier_bytes + piece):
            return True
        earlier_bytes = (earlier_bytes + piece)[-_LONGEST_MATCH:]
    return False


def read_sample_results(file: Path) -> SampleRecords:
    """The samples of a result file: of its processes, the one with the most samples.

    Raises `UsageError, NotATraceError` when the file cannot be read.
    """
    problem, advice = "not a complete result file of rocprofv3", "check that the copy is complete, or record again"
    processes = json_of(file, ResultFile, problem=problem, advice=advice).processes
    with_samples = [process for process in processes if process.buffer_records.samples]
    if not with_samples:
        raise NotATraceError("no PC sample in this file", where=str(file), advice=f"wavewright summary {quoted(file)}")
    process = max(with_samples, key=lambda process: len(process.buffer_records.samples))
    losses: list[Loss] = []
    if len(with_samples) > 1:
        detail = f"processes {', '.join(str(other.metadata.pid) for other in with_samples if other is not process)}"
        losses.append(Loss("other_samples", len(with_samples) - 1, detail=detail))
    targets = {agent.name for agent in process.agents if agent.name.startswith("gfx")}
    return SampleRecords(
        _frame(process, losses),
        has_addresses=True,
        kernels=_kernels(process),
        entries=_entries(process),
        target=targets.pop() if len(targets) == 1 else None,
        pid=process.metadata.pid,
        losses=losses,
    )


def _frame(process: ResultProcess, losses: list[Loss]) -> pl.DataFrame:
    raw = process.buffer_records.samples
    frames = list(_frames(raw))
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=_FIELDS)
    if frame.height < len(raw):
        losses.append(Loss("malformed_events", len(raw) - frame.height, detail="PC samples"))
    frame = frame.with_columns(index=pl.when(pl.col("index") >= 0).then("index"))
    strings = {"text": process.strings.pc_sample_instructions, "comment": process.strings.pc_sample_comments}
    for name, texts in strings.items():
        by_index = pl.DataFrame({"index": range(len(texts)), name: texts}, {"index": pl.Int64, name: pl.Categorical})
        frame = frame.join(by_index, on="index", how="left", maintain_order="left")
    return frame.select(*RECORD)


_FIELDS = {
    "time_ns": pl.Int64, "dispatch": pl.Int64, "correlation": pl.Int64, "code_object": pl.UInt64,
    "address": pl.UInt64, "issued": pl.Int64, "reason": pl.Categorical, "cu_wave_count": pl.Int64, "index": pl.Int64,
}  # fmt: skip
_VALUES = attrgetter(
    "record.timestamp", "record.dispatch_id", "record.corr_id.internal", "record.pc.code_object_id",
    "record.pc.code_object_offset", "record.wave_issued", "record.snapshot.stall_reason", "record.wave_cnt",
    "inst_index",
)  # fmt: skip


def _frames(raw: Sequence[msgspec.Raw]) -> Iterator[pl.DataFrame]:
    """The records as columns, a batch at a time; those that do not fit are left out."""
    for begin in range(0, len(raw), _BATCH):
        sound = [sample for sample in records_of(raw[begin : begin + _BATCH], _Sample) if _fits(sample.record)]
        columns = zip(*map(_VALUES, sound), strict=True) if sound else ((),) * len(_FIELDS)
        fields = zip(_FIELDS.items(), columns, strict=True)
        yield pl.DataFrame([pl.Series(name, values, dtype, strict=False) for (name, dtype), values in fields])


def _fits(record: _Record) -> bool:
    place = record.pc
    return 0 <= record.timestamp < _I64 and 0 <= place.code_object_id < _U64 and 0 <= place.code_object_offset < _U64


def _kernels(process: ResultProcess) -> pl.DataFrame:
    """Dispatches with their kernels, where the run has a kernel trace."""
    names = {symbol.kernel_id: _names(symbol) for symbol in process.kernel_symbols}
    rows = [
        (info.dispatch_id, dispatch.correlation_id.internal, *names[info.kernel_id])
        for dispatch in process.buffer_records.kernel_dispatch
        for info in (dispatch.dispatch_info,)
        if info.kernel_id in names and 0 <= info.dispatch_id < _I64
    ]
    kernels = pl.DataFrame(rows, NO_KERNELS.schema, orient="row", strict=False)
    return kernels.unique("dispatch", keep="first", maintain_order=True)


def _entries(process: ResultProcess) -> pl.DataFrame:
    """The entries of the kernels of each code object."""
    load_bases = {code_object.code_object_id: code_object.load_base for code_object in process.code_objects}
    rows = [
        (symbol.code_object_id, symbol.kernel_address.handle - load_bases[symbol.code_object_id], *_names(symbol))
        for symbol in process.kernel_symbols
        if symbol.code_object_id in load_bases and symbol.kernel_address.handle
    ]
    valid_rows = [row for row in rows if 0 < row[0] < _U64 and 0 <= row[1] < _U64]
    return pl.DataFrame(valid_rows, NO_ENTRIES.schema, orient="row")


def _names(symbol: ResultSymbol) -> tuple[str, str]:
    name = symbol.kernel_name.removesuffix(".kd") or symbol.formatted_kernel_name or f"kernel {symbol.kernel_id}"
    return name, symbol.formatted_kernel_name or name
