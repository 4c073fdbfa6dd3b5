"""What `baseline` and `gate` have in common: the options that say what is measured, and reading with progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.baseline import Baseline

step_option = click.option(
    "--step", metavar="MARKER", help="Of runs: per occurrence of this marker range (or /REGEX/)."
)
kernel_option = click.option("--kernel", metavar="NAME", help="Only kernels whose name contains NAME.")


def measured_with_progress(
    paths: Sequence[str], kind: str, *, step: str | None, kernel: str | None, metrics: Sequence[str]
) -> Baseline:
    """What the captures at the paths measured, with progress on a terminal."""
    from wavewright.cluster.measurements import measured

    return measured(
        paths, kind, step=step, kernel=kernel, metrics=metrics, progress=lambda path: progress(f"reading {path}")
    )
