"""The GPU of a capture: from sysinfo.csv, or from the list of agents beside the counters."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from wavescope.model.counter_set import System

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["first_rows", "system_of_rows"]

_FIELDS = {
    "cu_count": "cu_per_gpu",
    "se_count": "se_per_gpu",
    "simds_per_cu": "simd_per_cu",
    "wave_size": "wave_size",
    "waves_per_cu_max": "max_waves_per_cu",
    "clock_mhz_max": "max_sclk",
    "memory_clock_mhz_max": "max_mclk",
    "memory_channel_count": "num_hbm_channels",
    "l2_channel_count": "total_l2_chan",
    "lds_bank_count": "lds_banks_per_cu",
    "sqc_count": "sqc_per_gpu",
    "pipe_count": "pipes_per_gpu",
    "xcd_count": "num_xcd",
}
_MAX_BYTES = 1 << 20
_NOTHING = ("", "na", "n/a", "nan", "none", "null")


def first_rows(file: Path, limit: int = 1000) -> list[dict[str, str]]:
    """The first rows of a small CSV by header; nothing where it cannot be read."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
        rows = csv.reader(text.splitlines(keepends=True))
        header = [name.strip() for name in next(rows, [])]
        return [dict(zip(header, row, strict=False)) for row, _ in zip(rows, range(limit), strict=False) if row]
    except (OSError, csv.Error):
        return []


def system_of_rows(row: Mapping[str, str], file: str) -> System:
    """What a row of sysinfo.csv says; 0, NA and nothing mean: not known.

    Examples
    --------
    >>> found = system_of_rows({"gpu_arch": "gfx942", "cu_per_gpu": "304", "max_mclk": "NA"}, "sysinfo.csv")
    >>> found.target, found.cu_count, found.memory_clock_mhz_max, found.said_by["cu_count"]
    ('gfx942', 304.0, None, 'sysinfo.csv')
    """
    numbers = {name: value for name, field in _FIELDS.items() if (value := _number(row.get(field)))}
    target, product = _word(row.get("gpu_arch")), _word(row.get("gpu_model"))
    words = {name: value for name, value in (("target", target), ("product", product)) if value}
    said_by = dict.fromkeys((*words, *numbers), file)
    return System(target=target, product=product, **numbers, said_by=said_by, described=dict(row))


def _number(word: str | None) -> float | None:
    try:
        value = float((word or "").strip())
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def _word(word: str | None) -> str | None:
    word = (word or "").strip()
    return None if word.lower() in _NOTHING else word
