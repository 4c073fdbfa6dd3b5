"""Sampled instructions in the whole code of their functions, from code objects beside the samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wavewright.base.files import not_read
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.capture import CODE_SUFFIXES, CodeObjectFile, code_objects_among, parse_code_object
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.trace.code import Code, load_code
from wavewright.readers.trace.samples.rows import described

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
