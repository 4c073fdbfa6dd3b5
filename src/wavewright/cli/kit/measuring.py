"""What `baseline` and `gate` have in common: the options that say what is measured, and reading with progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.io import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.baseline import Baseline


def measured_with_progress(
    paths: Sequence[str], kind: str, *, step: str | None, kernel: str | None, metrics: Sequence[str]
) -> Baseline:
    """What the captures at the paths measured, with progress on a terminal."""
    from wavewright.cluster.measuring import measured

    return measured(
        paths, kind, step=step, kernel=kernel, metrics=metrics, progress=lambda path: progress(f"reading {path}")
    )
