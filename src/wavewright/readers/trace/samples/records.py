"""PC samples as they were recorded: one row per sample, whatever file they come from."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from wavewright.base.toml import packaged
from wavewright.model.losses import Loss

#: Columns of `SampleRecords.frame`.
RECORD = {
    "time_ns": pl.Int64,
    "dispatch": pl.Int64,  # null = not recorded
    "correlation": pl.Int64,  # of the call that launched the dispatch, null = not recorded
    "code_object": pl.UInt64,  # null = not recorded
    "address": pl.UInt64,  # of the code object, null = not recorded
    "text": pl.Categorical,  # "" = the profiler could not read the code
    "comment": pl.Categorical,  # inline chain, "" = no debug line
    "issued": pl.Int64,  # 1 or 0, null = the method does not tell
    "reason": pl.Categorical,  # as the profiler calls it, null = the method does not tell
    "cu_wave_count": pl.Int64,  # null = not recorded
}

_NAMES_OF_KERNELS = {"name": pl.String, "demangled": pl.String}
NO_KERNELS = pl.DataFrame(schema={"dispatch": pl.Int64, "correlation": pl.Int64, **_NAMES_OF_KERNELS})
NO_ENTRIES = pl.DataFrame(schema={"code_object": pl.UInt64, "address": pl.UInt64, **_NAMES_OF_KERNELS})
_PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
_NAMES: dict[str, list[str]] = packaged("reasons.toml", __package__)
_REASONS = {name: reason for reason, names in _NAMES.items() for name in names}


def reason_named(name: str) -> str:
    """One of `SAMPLE_REASONS` for a reason as the profiler calls it; another reason keeps its own words.

    >>> reason_named("ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT")
    'barrier'
    """
    end = name.removeprefix(_PREFIX)
    return _REASONS.get(end) or end.lower().replace("_", " ")


@dataclass
class SampleRecords:
    """All samples of a file, and what it tells about their kernels."""

    frame: pl.DataFrame  #: One row per sample, columns as in `RECORD`.
    has_addresses: bool
    kernels: pl.DataFrame  #: Dispatches whose kernel is known, columns as in `NO_KERNELS`.
    entries: pl.DataFrame  #: Entries of kernels that the file lists, columns as in `NO_ENTRIES`.
    target: str | None = None  #: The GPU, where the file names one only.
    pid: int | None = None
    losses: list[Loss] = field(default_factory=list)
