"""The wave files: read natively, many at once, into the tables waves, instructions and states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wavewright import _core
from wavewright.base.toml import packaged
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.manifest import ListedFile
from wavewright.readers.trace.ui_output.parts import readable

_NAMES = packaged("names.toml", __package__)  #: Problems by number: `row_losses` and `file_faults`.


def read_waves(folder: Folder, files: list[ListedFile], lines: Sequence[int], threads: int) -> dict[str, _core.Table]:
    """The native tables of wave files; `lines` are the ids of the code rows. Needs no polars."""
    return _core.read_waves(_contents(folder, files), [file.se for file in files], lines, range(len(lines)), threads)


def wave_tables(tables: dict[str, _core.Table], files: list[ListedFile]) -> tuple[dict[str, pl.DataFrame], list[Loss]]:
    """Convert the result of `read_waves` into tables of the model and losses; `with_kernels` completes the waves."""
    frames = {name: pl.DataFrame(table) for name, table in tables.items()}
    frames["waves"] = _waves(frames["waves"], files)
    return {name: frames[name] for name in ("waves", "instructions", "states")}, _losses(frames["problems"], files)


def _contents(folder: Folder, files: Sequence[ListedFile]) -> list[str | bytes]:
    """Paths where the files lie on disk, for the native reader to open; else what is in them."""
    first = folder.path_of(files[0].name) if files else None
    if first is not None:
        return [f"{first.parent}/{file.name}" for file in files]
    contents: list[str | bytes] = []
    for file in files:
        try:
            contents.append(folder.read(file.name))
        except OSError:  # the native reader fails at the path as well, and reports it
            contents.append(str(Path(folder.label) / file.name))
    return contents


def _waves(waves: pl.DataFrame, files: Sequence[ListedFile]) -> pl.DataFrame:
    """The `waves` table without kernels; -1 of the native reader (the file does not say) is null here."""
    engines = pl.Series("se", [file.se for file in files], pl.UInt16)
    optional = ("cu", "simd", "slot", "me", "pipe", "workgroup", "cluster")
    number = pl.int_range(pl.len(), dtype=pl.Int64).over("se", "simd", "slot")
    wave_rows = waves.with_columns(
        engines.gather(waves["file"]).alias("se"),
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("wave"),
        *(pl.when(pl.col(name) >= 0).then(pl.col(name)).cast(pl.UInt8).alias(name) for name in optional),
        pl.lit(None, pl.UInt8).alias("contexts"),
        pl.lit(value=True).alias("complete"),
        pl.lit(None, pl.UInt32).alias("kernel"),
    )
    ids = pl.when(pl.col("id").is_between(0, (1 << 32) - 1)).then("id").otherwise(number)
    wave_rows = wave_rows.with_columns(ids.cast(pl.UInt32).alias("slot_wave"))
    return wave_rows.select(THREAD_TRACE["waves"].names)


def with_kernels(waves: pl.DataFrame, occupancy: pl.DataFrame) -> pl.DataFrame:
    """The waves with the kernel of the occupancy event that starts at the same place and time.

    Where a wave file does not say its CU (old writers), the event says it.
    """
    key = ["se", "simd", "slot", "start_cycles"]
    starts = occupancy.filter("start").select("se", "simd", "slot", "cu", "kernel", start_cycles="time_cycles")
    has_cu = not waves.height or not waves["cu"].is_null().all()
    key += ["cu"] if has_cu else []
    by_key = waves.drop("kernel", *([] if has_cu else ["cu"]))
    return by_key.join(starts.unique(key, keep="none"), on=key, how="left", maintain_order="left").select(waves.columns)


def _losses(problems: pl.DataFrame, files: Sequence[ListedFile]) -> list[Loss]:
    """One loss per kind, with the first file as an example."""
    example = pl.col("file", "byte_offset").first()
    groups = problems.group_by("kind", maintain_order=True).agg(pl.col("count").sum(), example, files=pl.len())
    losses = []
    for row in groups.sort("kind").iter_rows(named=True):
        kind, name = str(row["kind"]), readable(files[row["file"]].name)
        others = f" and {row['files'] - 1:,} more" if row["files"] > 1 else ""
        if fault := _NAMES["file_faults"].get(kind):
            problem = f"{name} {fault.format(offset=row['byte_offset'])}{others}"
            losses.append(Loss("unreadable_json", row["count"], detail=problem, byte_offset=row["byte_offset"]))
        else:
            loss, engine = _NAMES["row_losses"][kind], files[row["file"]].se
            losses.append(Loss(loss, row["count"], detail=f"{name}{others}", se=engine))
    return losses
