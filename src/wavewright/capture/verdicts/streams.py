"""Dispatches of thread traces: counted by our decoder, without keeping its instructions in memory."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from wavewright.base.words import counted
from wavewright.capture.judgement import TracedDispatch
from wavewright.capture.plans.choices import TARGET_CU, engine_bytes, selected_engines
from wavewright.errors import NotATraceError, WavewrightError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import polars as pl

    from wavewright.capture.gpus.topology import Gpu
    from wavewright.capture.kinds import ThreadTraces
    from wavewright.model.trace import ThreadTrace
    from wavewright.readers.files.capture import Capture, Window
    from wavewright.readers.files.decoded_traces import DecodedTrace

DISPATCHES_MAX = 64  #: So many of the largest dispatches are decoded; a capture asks for two.
ROWS_BYTES_MAX = 32 << 20  #: Of streams up to this size, executions are counted for the share with a source line.
_WITHOUT_NAME = re.compile(r"\d+ / 0x[0-9a-f]+")  #: How a kernel is called whose code object is missing.
_OTHER_ARRAY = 0x80  #: RDNA: the shader array is in this bit of a WGP's number; only array 0 can be traced.

#: Losses of our decoder by what they mean for the trace as a whole.
_CUT = frozenset({"missing_end", "truncated_token", "wave_incomplete", "unended_waves"})
_HOLES = frozenset({"packet_loss", "bad_slot", "unknown_tokens", "stale_instruction"})
#: Losses whose sentences become notes of the judgement.
_NOTED = ("no_code_object", "unreadable_code_object", "code_of_other_gpu", "no_disassembler", "unreadable_trace")


class Places(NamedTuple):
    """Places where waves started or ended."""

    engines: frozenset[int] = frozenset()
    cus: frozenset[int] = frozenset()
    simds: frozenset[int] = frozenset()  #: Of the traced CU.


NOWHERE = Places()


@dataclass(frozen=True, kw_only=True)
class Look:
    """A dispatch, and where its waves were seen."""

    dispatch: TracedDispatch
    window: Window | None = None  #: Its streams; None = only a decoded folder is there.
    recorded_kernel: str = ""  #: Its kernel as the kernel trace of the run spells it; empty = there is none.
    seen: Places = NOWHERE
    notes: tuple[str, ...] = ()
    is_readable: bool = True


@dataclass(frozen=True, kw_only=True)
class Looks:
    """All dispatches below a folder."""

    looks: tuple[Look, ...]
    capture: Capture | None
    has_code_objects: bool
    left_out: int = 0  #: Dispatches beyond DISPATCHES_MAX.


def looks_below(attempt: Path, recording: ThreadTraces, gpu: Gpu | None) -> Looks:
    """Look at the dispatches of an attempt, in raw form, and in decoded form where there is no raw one."""
    from wavewright.readers.files.capture import find_capture
    from wavewright.readers.files.decoded_traces import decoded_on_disk, survey

    raw = attempt / "raw"
    capture = None
    with suppress(WavewrightError):
        capture = find_capture([raw])
    windows = sorted(capture.windows, key=_size_bytes, reverse=True) if capture else []
    looks = [
        _look_at_window(capture, window, attempt, recording, gpu) for window in windows[:DISPATCHES_MAX] if capture
    ]
    folders: list[DecodedTrace] = []
    with suppress(WavewrightError, OSError):
        folders = decoded_on_disk(survey(raw).decoded) if raw.is_dir() else []
    by_place = {(look.dispatch.dispatch, look.window.agent): at for at, look in enumerate(looks) if look.window}
    for folder in folders[:DISPATCHES_MAX]:
        place = folder.dispatch or 0, folder.agent
        at = by_place.get(place)
        if at is None:
            looks.append(_look_at_folder(folder, attempt, recording))
        elif folder.wave_count and not looks[at].dispatch.wave_count:
            looks[at] = _look_at_folder(folder, attempt, recording)
    return Looks(
        looks=tuple(looks),
        capture=capture,
        has_code_objects=bool(capture and capture.code_objects) or any(raw.rglob("*_code_object_id_*.out")),
        left_out=max(len(windows) - DISPATCHES_MAX, 0),
    )


def _size_bytes(window: Window) -> int:
    try:
        return window.byte_count
    except OSError:
        return 0


def _look_at_window(capture: Capture, window: Window, attempt: Path, recording: ThreadTraces, gpu: Gpu | None) -> Look:
    from wavewright.readers.trace.att import decode_window

    folder = str(window.files[0].path.parent.relative_to(attempt))
    size_bytes = _size_bytes(window)
    try:
        trace = decode_window(capture, window, rows_up_to=-1)  # never all instructions at once
        losses: dict[str, str] = {}  # each kind with its first sentence
        for kind, message in trace.losses.select("kind", "message").iter_rows():
            losses.setdefault(kind, message)
        waves = int((trace.waves["instruction_count"] > 0).sum())
        instructions = trace.executed.instruction_count
        mapped = _mapped_share(trace, size_bytes) if instructions else None
    except (WavewrightError, OSError) as error:
        dispatch = TracedDispatch(dispatch=window.dispatch or 0, folder=folder, size_bytes=size_bytes)
        note = f"the streams of dispatch {window.dispatch} cannot be read: {error}."
        return Look(dispatch=dispatch, window=window, notes=(note,), is_readable=False)
    is_full = _is_full(window, recording, gpu)
    return Look(
        dispatch=TracedDispatch(
            dispatch=window.dispatch or 0,
            folder=folder,
            kernel=_main_kernel(trace),
            wave_count=waves,
            instruction_count=instructions,
            mapped_share=mapped,
            is_truncated=is_full or bool(_CUT & losses.keys()),
            is_lossy=bool(_HOLES & losses.keys()),
            size_bytes=size_bytes,
            is_placeholder=waves == 0,
        ),
        window=window,
        notes=tuple(f"{message}." for kind, message in losses.items() if kind in _NOTED),
        seen=_places(trace.occupancy, recording, is_rdna=trace.gfxip > 9),
    )


def _is_full(window: Window, recording: ThreadTraces, gpu: Gpu | None) -> bool:
    """True when a stream fills the buffer of its shader engine: gfx11 tells it in no other way (spec 3.2)."""
    if recording.buffer_bytes is None or recording.se_mask is None:
        return False
    engines = selected_engines(recording.se_mask, gpu.se_count if gpu else None)
    capacity = engine_bytes(recording.buffer_bytes, engines, gpu.target if gpu else "")
    if not capacity:
        return False
    try:
        return any(file.path.stat().st_size >= capacity for file in window.files)
    except OSError:
        return False


def _main_kernel(trace: ThreadTrace) -> str:
    """The kernel of most traced waves, else of most wave starts; empty = not known."""
    import polars as pl

    names = dict(trace.kernels.select("kernel", "demangled").iter_rows())
    for table in (trace.waves.filter(pl.col("instruction_count") > 0), trace.occupancy):
        counts = table["kernel"].drop_nulls().value_counts(sort=True)
        for number in counts["kernel"].to_list():
            name = str(names.get(number) or "")
            if name and not _WITHOUT_NAME.fullmatch(name):
                return name
    return ""


def _mapped_share(trace: ThreadTrace, size_bytes: int) -> float:
    """The share of executed instructions that have a source line.

    Of large streams the share of the rows of its kernels, executed or not: counting executions needs all of them.
    """
    import polars as pl

    has_line = trace.code.select("row", "function", is_mapped=pl.col("line").is_not_null() & (pl.col("line") > 0))
    if size_bytes > ROWS_BYTES_MAX:
        rows = has_line.filter(pl.col("function").is_in(trace.kernels["name"].implode()))
        return float((rows if rows.height else has_line)["is_mapped"].mean() or 0.0)  # type: ignore[arg-type]
    from wavewright.analysis.trace.costs.row_costs import row_totals

    hits = row_totals(trace).join(has_line, on="row").filter("is_mapped")["hit_count"].sum()
    return int(hits) / trace.executed.instruction_count


def _places(occupancy: pl.DataFrame, recording: ThreadTraces, *, is_rdna: bool) -> Places:
    """Places where waves started or ended, as far as they could be traced."""
    import polars as pl

    seen = occupancy.filter(pl.col("cu") < _OTHER_ARRAY) if is_rdna else occupancy
    target = TARGET_CU if recording.target_cu is None else recording.target_cu
    return Places(
        frozenset(occupancy["se"].unique().to_list()),
        frozenset(seen["cu"].unique().to_list()),
        frozenset(seen.filter(pl.col("cu") == target)["simd"].unique().to_list()),
    )


def _look_at_folder(folder: DecodedTrace, attempt: Path, recording: ThreadTraces) -> Look:
    """A decoded folder by its own totals: they are small, and its waves need not be read."""
    from pathlib import Path

    from wavewright.readers.trace.ui_output.code import read_code
    from wavewright.readers.trace.ui_output.occupancy import occupancy_tables, read_occupancy

    place = Path(folder.folder.label)
    name = str(place.relative_to(attempt)) if place.is_relative_to(attempt) else folder.folder.name
    try:
        if folder.form != "ui_output":
            raise NotATraceError("rocprofv3 writes no Parquet folders", where=name)
        code = read_code(folder.folder)
        tables = occupancy_tables(read_occupancy(folder.folder, required=False), code).tables
    except (WavewrightError, OSError) as error:
        dispatch = TracedDispatch(dispatch=folder.dispatch or 0, folder=name)
        note = f"the decoded folder cannot be read: {error}."
        return Look(dispatch=dispatch, notes=(note,), is_readable=False)
    hits = sum(totals[0] for totals in code.totals)
    mapped = sum(totals[0] for totals, chain in zip(code.totals, code.chains, strict=True) if chain)
    busiest = tables["occupancy"]["kernel"].drop_nulls().value_counts(sort=True)["kernel"].to_list()
    names = dict(tables["kernels"].select("kernel", "demangled").iter_rows())
    return Look(
        dispatch=TracedDispatch(
            dispatch=folder.dispatch or 0,
            folder=name,
            kernel=next((str(names[number]) for number in busiest if names.get(number)), ""),
            wave_count=folder.wave_count,
            instruction_count=hits,
            mapped_share=mapped / hits if hits else None,
            size_bytes=folder.byte_count,
            is_placeholder=folder.wave_count == 0,
        ),
        seen=_places(tables["occupancy"], recording, is_rdna=False),
    )


def listed_engines(numbers: Iterable[int], what: str) -> str:
    """Numbers in a sentence."""
    chosen = sorted(numbers)
    if len(chosen) > 16:
        return counted(len(chosen), what)
    plural = what if len(chosen) != 1 else what.removesuffix("s")
    return f"{plural} {', '.join(map(str, chosen))}"
