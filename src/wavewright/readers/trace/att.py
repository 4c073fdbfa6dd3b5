"""Raw thread traces (`.att`): find the files, load the code, decode all shader engines, assemble the tables."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress, count
from pathlib import Path
from typing import cast

import polars as pl

from wavewright import _core
from wavewright.base.cache import cache_folder
from wavewright.model.losses import Loss, loss_frame, refused_losses
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import Executed, ThreadTrace, TraceSource
from wavewright.readers.files.capture import Capture, CodeObjectFile, Window, find_capture
from wavewright.readers.files.dispatches import choose
from wavewright.readers.files.in_memory import Memory, capture_in_memory, is_in_memory
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.trace import assemble
from wavewright.readers.trace.assemble import STATUS, add_losses, tables_of
from wavewright.readers.trace.buffers import LARGE_BYTES, Buffers
from wavewright.readers.trace.code import Code
from wavewright.readers.trace.dispatches import SCANNED_BYTES, name_dispatch, raw_dispatches
from wavewright.readers.trace.waits import match_waits

_BYTES_PER_INSTRUCTION = 120  #: In memory, with all that views make of it (measured with 100 million of them).
_STOPPED = STATUS.index("stopped")


def decode(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Memory | Sequence[Memory] | Mapping[str, Memory],
    code_objects: Sequence[str] = (),
    threads: int | None = None,
    *,
    dispatch: int | str | None = None,
    kernel: str | None = None,
    shader_engines: Iterable[int] | None = None,
    amd: bool = False,
    source_root: str | os.PathLike[str] | None = None,
    rows_up_to: float = math.inf,
    inventory: Inventory | None = None,
) -> ThreadTrace:
    """Decode one dispatch window of a raw capture.

    Parameters
    ----------
    paths
        A capture folder, or `.att` files of shader engines. Or bytes, a memory map, or a list of them, one for each
        shader engine; or a mapping of the names that files would have (`se1.att`, `kernel.co@0x7f00:0`) to bytes.
    code_objects
        `FILE[@LOAD_ADDRESS][:ID]` each: an ELF code object or a listing (`*.isa.tsv`, `code.json`). Files next to the
        traces are found automatically.
    threads
        How many shader engines to decode at once; None = as many as there are cores.
    dispatch
        Which dispatch: its number, or its key where several have the number (`3@run_b`; `trace.source.other_dispatches`
        lists those of the others). None = the fullest with traced waves, kernels of the runtime last.
    kernel
        A part of the kernel's name, to choose the dispatch by.
    shader_engines
        Only these; None = all.
    amd
        Equal AMD's decoder and viewer, defects included (`docs/explanation/differences.md`). Files for AMD's viewer
        (`write_ui_output`) need it.
    source_root
        Folder below which source files named by debug lines may be read; None = read no source text.
    rows_up_to
        Of a window with more bytes than this, instructions and states are decoded when they are asked for: those of
        one shader engine after the other with `trace.each_part()`, which needs less memory.
    inventory
        Listings of directories that the caller made already.

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
    if is_in_memory(paths):
        files: list[str | os.PathLike[str]] = ["memory"]
        everything = capture_in_memory(cast("Memory", paths), code_objects)
    else:
        files = [paths] if isinstance(paths, str | os.PathLike) else list(cast("Sequence[str]", paths))
        everything = find_capture([Path(path) for path in files], code_objects, inventory)
    top = Path(files[0]) if len(files) == 1 else None
    possible = raw_dispatches(everything.only(shader_engines=shader_engines), top)
    choice = choose(possible, dispatch, kernel, where=", ".join(map(str, files)))
    trace = decode_window(
        everything, choice.item, threads=threads, amd=amd, source_root=source_root, rows_up_to=rows_up_to
    )
    name_dispatch(trace, choice, possible, is_asked=dispatch is not None or kernel is not None)
    return trace


def decode_window(
    capture: Capture,
    window: Window,
    *,
    threads: int | None = None,
    amd: bool = False,
    source_root: str | os.PathLike[str] | None = None,
    rows_up_to: float = math.inf,
) -> ThreadTrace:
    """Decode one window of a capture that `find_capture` found; see `decode`.

    Of a window with more than `rows_up_to` bytes instructions and states are only counted, and decoded when they are
    asked for: all of them by `trace.instructions`, those of one shader engine after the other by `trace.each_part()`.
    """
    buffers = Buffers(window.files, amd=amd, threads=threads or 0)
    losses = [*capture.losses, *buffers.check()]
    is_counted = buffers.byte_count > rows_up_to  # instructions and states are left out for now
    code, records = _with_code(capture.code_of(window), buffers, buffers.count if is_counted else buffers.decode)
    engines = [file.se or 0 for file in window.files]
    core_tables = assemble.tables_of(records, engines)
    entries = assemble.entries_of(core_tables)
    tables = assemble.with_kernel_numbers(core_tables, entries)
    tables["shader_engines"] = assemble.shader_engine_frame(records, engines, [f.path.name for f in window.files])
    tables["kernels"] = code.kernels_at(entries)
    tables["markers"] = with_marker_names(core_tables["markers"], code.program)
    for record, se in zip(records, engines, strict=True):
        losses += assemble.losses_of_core(record, se)
    losses += code.losses + code.missing_for(entries)
    losses += refused_losses(capture.refused)
    losses += _losses_of_size(tables, is_in_memory=not is_counted and buffers.byte_count > LARGE_BYTES)
    tables["losses"] = loss_frame(losses)
    lazy_tables: dict[str, Callable[[], pl.DataFrame]] = {}
    lossy = ("code",) if source_root is None else ("code", "sources")  # making these tables can add losses
    path = str(window.files[0].path.parent)
    source = TraceSource(path, agent=window.agent, dispatch=window.dispatch, target=code.target, amd=amd)
    trace = ThreadTrace(tables, source, lazy_tables, lossy, counted=_executed(records))
    # The trace holds `lazy_tables` itself, so what is added below is there when a table is asked for.
    if is_counted:
        leave_rows(trace, lazy_tables, records, buffers, code.program)
    trace.find_kernel = code.kernel_at
    lazy_tables["code"] = lambda: _code_table(trace, code)
    gfxip = max(record.gfxip for record in records)
    lazy_tables["waits"] = lambda: match_waits(trace.instructions, trace.code, gfxip)
    lazy_tables["sources"] = lambda: _source_table(trace, source_root)
    return trace


def _losses_of_size(tables: Mapping[str, pl.DataFrame], *, is_in_memory: bool) -> Iterator[Loss]:
    """Losses for tables that may not fit into memory, as no cache can hold them, and for a trace without waves."""
    if is_in_memory and cache_folder() is None:
        gigabytes = tables["instructions"].height * _BYTES_PER_INSTRUCTION / 1e9
        yield Loss("all_in_memory", detail=f"{gigabytes:.1f} GB")
    if not tables["waves"].height:
        event_count = tables["occupancy"].height
        elsewhere = f"{event_count:,} wave starts and ends were seen, all on other CUs"
        yield Loss("no_waves", detail=elsewhere if event_count else "the trace has no wave")


def _code_table(trace: ThreadTrace, code: Code) -> pl.DataFrame:
    """Return the `code` table. The losses of the debug lines, found while it is built, go to the trace."""
    table = code.table(max(trace.executed.rows, default=-1))
    add_losses(trace, code.line_losses)
    return table


def _source_table(trace: ThreadTrace, source_root: str | os.PathLike[str] | None) -> pl.DataFrame:
    """Return the `sources` table. Files below the folder that may not be read are losses of the trace."""
    from wavewright.readers.trace.sources import read_sources

    refusals: dict[str, str] = {}
    table = read_sources(trace.code, source_root, refusals)
    add_losses(trace, refused_losses(refusals))
    return table


def _with_code(
    files: Sequence[CodeObjectFile], buffers: Buffers, decode_all: Callable[[_core.Program], list[_core.Records]]
) -> tuple[Code, list[_core.Records]]:
    """Decode with as little disassembly as possible, and again with all of it if PCs are missing.

    Where kernel entries decide which code is loaded and where, the entries at the start of the buffers usually suffice.
    Decoding shows whether they did; if not, the buffers are decoded again.
    """
    from wavewright.readers.trace.code import load_code

    heads = buffers.heads()
    code = load_code(files, heads, lambda: _entered(buffers, SCANNED_BYTES))
    records = decode_all(code.program)
    if code.entries is not None:
        entries = _entries_of(records)
        if any(record.status == _STOPPED for record in records):
            entries = _entered(buffers)  # without code nothing stops the decoder where a branch leads nowhere
        if not entries.equals(code.entries):
            code = load_code(files, heads, lambda: entries)
            records = decode_all(code.program)
    if code.is_partial and any(len(_core.tables(record)["losses"]) for record in records):
        kernel_entries = code.entries
        code = load_code(files, heads, None if kernel_entries is None else lambda: kernel_entries, whole=True)
        records = decode_all(code.program)
    return code, records


def _entered(buffers: Buffers, first_bytes: int = -1) -> pl.DataFrame:
    """The kernel entries that the buffers, or the first bytes of each, name, found without any code."""
    no_code = _core.Program()
    no_code.link()
    return _entries_of(buffers.count(no_code, first_bytes=first_bytes))


def _entries_of(records: Sequence[_core.Records]) -> pl.DataFrame:
    return assemble.entries_of(assemble.short_tables_of(records, [0] * len(records)))


# --- names of markers: what the values of shader data mean, from the marker names of the code objects ---
#: Values of `markers.marker_kind`; kernels are named, but never written as markers.
MARKER_KINDS = {1: "function", 2: "user scope", 3: "point", 4: "kernel"}
_KERNEL = 4


def marker_names(program: _core.Program) -> pl.DataFrame:
    """Every named row of the marker names in `program`, in the order of the code objects and of their rows.

    Columns: code_object, marker_id (0 for kernels), kind (MARKER_KINDS), payload_count (values behind the marker
    that belong to it), name, location (null = none given). An id may occur twice; its last row counts.
    """
    named = program.marker_names()
    rows = [(*numbers, _readable(name), _readable(location) or None) for *numbers, name, location in named]
    schema = {"code_object": pl.UInt64, "marker_id": pl.UInt32, "kind": pl.UInt8, "payload_count": pl.UInt32}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(("name", "location"), pl.String), orient="row")


def with_marker_names(markers: pl.DataFrame, program: _core.Program) -> pl.DataFrame:
    """The table `markers`: the core's markers over all shader engines (with `se`), names and locations joined in."""
    key = ["code_object", "marker_id"]
    names = marker_names(program).filter(pl.col("kind") != _KERNEL).unique(key, keep="last")
    table = markers.join(names.select(*key, "name", "location"), on=key, how="left", maintain_order="left")
    return table.select(THREAD_TRACE["markers"].names)


def _readable(text: bytes) -> str:
    """Replace unprintable characters by question marks: names are untrusted and reach terminals."""
    return "".join(c if c.isprintable() else "?" for c in text.decode("utf-8", "replace"))


# --- instructions and states that were only counted: decoded on first use, all at once or engine by engine ---
_ROWS = ("instructions", "states")  #: Tables that are decoded later.
_SHARED = ("code", "kernels", "sources", "shader_engines")  #: Tables that a part has in common with its trace.


def leave_rows(
    trace: ThreadTrace,
    lazy_tables: dict[str, Callable[[], pl.DataFrame]],
    records: Sequence[_core.Records],
    buffers: Buffers,
    program: _core.Program,
) -> None:
    """Make a trace whose records have no rows of instructions and states decode them on first use."""
    trace.tables["waves"] = _indexed(trace.waves)
    for name in _ROWS:
        del trace.tables[name]
        lazy_tables[name] = partial(_all_rows, trace, name, buffers, program)
    engines = trace.shader_engines["se"].to_list()
    waves = [trace.waves.filter(trace.waves["se"] == se).height for se in engines]
    counts = [(count, record.instruction_count) for count, record in zip(waves, records, strict=True)]
    trace.parts = partial(_parts, trace, engines, counts, buffers, program)


def _executed(records: Sequence[_core.Records]) -> Executed:
    """Executed instructions, rows and cycles of a trace, in sums over its shader engines."""
    cycles: Counter[int] = Counter()
    for record in records:
        cycles.update(record.state_cycles)
    return Executed(
        sum(record.instruction_count - record.release_count for record in records),
        sum(record.unresolved_count for record in records),
        tuple(sorted({row for record in records for row in compress(count(), record.executed_rows)})),
        frozenset(bit for record in records for bit in range(16) if record.category_bits >> bit & 1),
        dict(sorted(cycles.items())),
    )


def _indexed(waves: pl.DataFrame) -> pl.DataFrame:
    """The waves with the places of their rows in the tables of just these waves: one wave's after the other's."""
    counts = {"first_instruction": "instruction_count", "first_state": "state_count"}
    ends = {first: pl.col(count).cast(pl.UInt64).cum_sum() for first, count in counts.items()}
    return waves.with_columns(**{first: end - pl.col(counts[first]) for first, end in ends.items()})


def _all_rows(trace: ThreadTrace, name: str, buffers: Buffers, program: _core.Program) -> pl.DataFrame:
    """Return one of the two tables over all shader engines; the other one is decoded with it and cached."""
    tables = tables_of(buffers.decode(program), trace.shader_engines["se"].to_list())
    for other in _ROWS:
        if other != name:
            trace.tables.setdefault(other, tables[other])
    return tables[name]


def _parts(
    trace: ThreadTrace,
    engines: Sequence[int],
    counts: Sequence[tuple[int, int]],
    buffers: Buffers,
    program: _core.Program,
) -> Iterator[ThreadTrace]:
    streams = buffers.each(program, counts)
    for se in engines:  # nothing here may hold a part while the next one is decoded
        yield _part(trace, se, next(streams))


def _part(trace: ThreadTrace, se: int, record: _core.Records) -> ThreadTrace:
    """One shader engine as a trace; waves keep their numbers."""
    rows = _core.tables(record)
    tables = {name: pl.DataFrame(rows[name]) for name in _ROWS}
    for name, frame in trace.tables.items():
        if name in _SHARED:
            tables[name] = frame
        elif name not in (*_ROWS, "losses") and "se" in frame.columns:
            tables[name] = frame.filter(pl.col("se") == se)
    tables["waves"] = _indexed(tables["waves"])
    # losses are always asked of the trace: they may not be complete yet
    lazy = {name: partial(trace.table, name) for name in (*_SHARED, "losses") if name not in tables}
    instructions = tables["instructions"]
    # the part itself must not be in here: it would live until the garbage collector looks for circles
    return ThreadTrace(tables, trace.source, lazy | {"waits": lambda: _waits(instructions, trace)})


def _waits(instructions: pl.DataFrame, trace: ThreadTrace) -> pl.DataFrame:
    return match_waits(instructions, trace.code, trace.gfxip)
