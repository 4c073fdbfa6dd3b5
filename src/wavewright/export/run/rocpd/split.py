"""Several runs as ROCpd files of one folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wavewright.export.kit.staging import staged
from wavewright.export.run.rocpd import write_rocpd

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wavewright.export.kit.writer_result import Written
    from wavewright.model.run import Run


def write_parts(parts: Mapping[Path, Run], *, force: bool = False) -> list[Written]:
    """Write each run to its path, all in one folder; all of them appear together, or none.

    Raises
    ------
    UsageError
        When a file exists and must not be replaced.
    WavewrightError
        When they cannot be written.
    """
    targets = list(parts)
    with staged(targets, force=force) as twins:
        written = [write_rocpd(run, twin) for run, twin in zip(parts.values(), twins, strict=True)]
    return [replace(each, path=target) for each, target in zip(written, targets, strict=True)]
