"""The tables of AMD's `rocpd summary` as CSV files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wavewright.base.csv import write_csv
from wavewright.errors import UsageError
from wavewright.export.kit.staging import staged


def write_rocpd_summary(tables: Mapping[str, pl.DataFrame], folder: Path) -> list[Path]:
    """Write each table as `<name>.csv` into a new or empty folder, all of them or none."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = "the folder is not empty"
        raise UsageError(problem, where=str(folder), advice="choose a new or empty folder")
    names = {name: f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.csv" for name in tables}
    with staged([folder], force=folder.exists()) as (twin,):
        twin.mkdir()
        for name, table in tables.items():
            (twin / names[name]).write_text(write_csv(table), encoding="utf-8")
    return [folder / name for name in names.values()]
