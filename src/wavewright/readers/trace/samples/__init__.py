"""PC samples of rocprofv3, CSV or JSON, into a `ThreadTrace` (docs/formats/pc-samples.md).

`files` finds the files, `rows` reads the CSV and `results` the JSON form into `SampleRecords`; `rows` makes the tables
of them, and here code objects beside the samples add the whole code of the sampled functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from wavewright.base.files import not_read
from wavewright.codeobj.targets import family_of
from wavewright.errors import UsageError
from wavewright.model.losses import Loss, loss_frame
from wavewright.model.schema import THREAD_TRACE, frame_of
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.readers.files.capture import CODE_SUFFIXES, CodeObjectFile, code_objects_among, parse_code_object
from wavewright.readers.files.folder import Directory
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.trace.assemble import add_losses
from wavewright.readers.trace.code import Code, load_code
from wavewright.readers.trace.resources import fill_from_around
from wavewright.readers.trace.samples.files import SampleFile, choose, find_samples
from wavewright.readers.trace.samples.records import SampleRecords
from wavewright.readers.trace.samples.results import read_sample_results
from wavewright.readers.trace.samples.rows import (
    count_tables,
    described,
    kernel_table,
    read_sample_table,
    sampled_code,
    with_functions,
    with_rows,
)

__all__ = ["find_samples", "read_samples"]

_NAMED = 8  #: An error names at most so many dispatches.
_GENERATIONS = {"gfx9": 9, "gfx10": 10, "gfx11": 11, "gfx12": 12, "gfx1250": 12}


def read_samples(
    files: Sequence[SampleFile], *, dispatch: int | None = None, code_objects: Sequence[str] = (), inventory: Inventory
) -> ThreadTrace:
    """The samples of one of the files that `find_samples` found (see `choose`): of one dispatch, or all (None).

    `code_objects` (`FILE[@LOAD_ADDRESS][:ID]`) are those that are not in the folder of the samples. Raises `UsageError`
    when there is no sample of the dispatch, or a code object does not exist; `NotATraceError` when the file cannot be
    read.
    """
    losses: list[Loss] = []
    file = choose(files, losses)
    path = str(file.path)
    records = read_sample_results(file.path) if file.is_json else read_sample_table(file.path)
    samples = with_functions(records)
    other_keys: tuple[str, ...] = ()
    if dispatch is not None:
        samples, other_keys = _of_dispatch(samples, dispatch, path)
    sampled_rows = sampled_code(samples, has_addresses=records.has_addresses)
    folder = file.path.absolute().parent
    files_of_code = code_objects_of(folder, records.pid, code_objects, inventory)
    code = loaded(files_of_code, sampled_rows, losses) if records.has_addresses else None
    unread = int((samples["text"] == "").sum())
    losses += records.losses
    losses += [] if records.has_addresses else [Loss("samples_without_addresses")]
    losses += [Loss("samples_without_code", unread)] if unread else []
    target = records.target or (code.target if code else None)
    source = TraceSource(path, dispatch=dispatch, target=target, other_dispatches=other_keys, format="PC sampling")
    trace = _assembled(records, samples, sampled_rows, code, source)
    trace.tables["losses"] = loss_frame(losses)
    fill_from_around(trace, [Directory(folder, inventory)], with_code=False)
    # Samples belong to no shader engine, but the generation is known: one row without a number has it.
    gfxip = _GENERATIONS.get(family_of(trace.source.target) or "", 0) if trace.source.target else 0
    row = {"status": "ok", "gfxip": gfxip, "realtime_hz": 0}
    trace.tables["shader_engines"] = frame_of(THREAD_TRACE["shader_engines"], [row])
    return trace


def _of_dispatch(samples: pl.DataFrame, dispatch: int, where: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The samples of one dispatch, and the keys of the others."""
    numbers = samples["dispatch"].drop_nulls().unique().sort().to_list()
    dispatch_samples = samples.filter(pl.col("dispatch") == dispatch)
    if not dispatch_samples.height:
        there = ", ".join(map(str, numbers[:_NAMED])) + (", ..." if len(numbers) > _NAMED else "")
        raise UsageError(f"no sample of dispatch {dispatch}", where=where, advice=f"dispatches with samples: {there}")
    return dispatch_samples, tuple(str(number) for number in numbers if number != dispatch)


def _assembled(
    records: SampleRecords, samples: pl.DataFrame, sampled_rows: pl.DataFrame, code: Code | None, source: TraceSource
) -> ThreadTrace:
    """The trace, whose code rows are those of whole functions where code objects are known."""
    lazy: dict[str, Callable[[], pl.DataFrame]] = {}
    tables = {"kernels": kernel_table(records, samples)}
    trace = ThreadTrace(tables, source, lazy)
    if code is None:
        keys = sampled_rows
        lazy["code"] = lambda: described(sampled_rows, trace.source.target)  # the GPU may become known later
    else:
        tables["code"] = keys = merged(code, sampled_rows, source.target)
    tables |= count_tables(with_rows(samples, keys, has_addresses=records.has_addresses))
    if code is not None:
        add_losses(trace, code.line_losses)
    return trace


# --- sampled instructions in the whole code of their functions, from code objects beside the samples ---
_PLACE = ["code_object", "address"]


def code_objects_of(
    folder: Path, pid: int | None, code_objects: Sequence[str], inventory: Inventory
) -> tuple[CodeObjectFile, ...]:
    """The code objects that were given, and those of the process that stand in the folder of the samples."""
    files = [parse_code_object(text) for text in code_objects]
    beside = [folder / name for name in inventory.names(folder) if name.endswith(CODE_SUFFIXES)]
    others = code_objects_among((file for file in beside if not not_read(file, folder)), {c.id for c in files})
    return tuple(files) + tuple(c for c in others if c.id and (None in (c.pid, pid) or c.pid == pid))


def loaded(files: Sequence[CodeObjectFile], samples: pl.DataFrame, losses: list[Loss]) -> Code | None:
    """The code objects that have a sampled instruction, disassembled; None = there is none."""
    ids = set(samples["code_object"].drop_nulls().to_list())
    files_of_ids = [file for file in files if file.id in ids]
    if not files_of_ids:
        return None
    entries = samples.select(pl.col("row").cast(pl.UInt32).alias("kernel"), *_PLACE).drop_nulls()
    code = load_code(files_of_ids, (), lambda: entries)
    losses += code.losses
    return code


def merged(code: Code, samples: pl.DataFrame, target: str | None) -> pl.DataFrame:
    """The `code` table of whole functions; sampled instructions that the code objects do not list come last."""
    listing = code.table()
    listing = listing.filter(pl.col("text") != "")
    more = samples.join(listing.select(_PLACE), on=_PLACE, how="anti", nulls_equal=True, maintain_order="left")
    table = pl.concat([listing, described(more, target)])
    return table.with_columns(pl.int_range(pl.len(), dtype=pl.Int32).alias("row")).select(THREAD_TRACE["code"].names)
