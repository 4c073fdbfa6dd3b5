"""Which kernel and which launches: options of the captures that record chosen dispatches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.capture import JobValue
from wavewright.cli.kit.io import with_options
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.capture.kinds import ThreadTraces


def kernel_options(verb: Callable[..., None]) -> Callable[..., None]:
    """--kernel, --regex, --exclude and --launch; see `kernel_fields`."""
    return with_options(
        verb,
        (
            click.option("--kernel", metavar="NAME", help="The kernel whose name contains NAME."),
            click.option("--regex", metavar="REGEX", help="Kernels whose names match, as rocprofv3 compares them."),
            click.option("--exclude", metavar="REGEX", default="", help="Kernels that are left out."),
            click.option(
                "--launch",
                type=JobValue("launches"),
                default=(),
                metavar="N|N-M",
                help="Launches, counted from 1 per kernel symbol, as 7-8.",
            ),
        ),
    )


def kernel_fields(kernel: str | None, regex: str | None, exclude: str, launch: tuple[int, ...]) -> dict[str, Any]:
    """Fields of `KernelChoice`."""
    if kernel is not None and regex is not None:
        raise UsageError("--kernel and --regex both choose kernels", advice="give one of them")
    if kernel is not None and not kernel.strip():
        raise UsageError("--kernel has no name", advice="`wavewright capture discover` lists the kernels")
    return {"kernel": kernel or "", "kernel_regex": regex or "", "exclude_regex": exclude, "launches": launch}


def from_discovery(recording: ThreadTraces, path: str, rocm_version: str) -> tuple[ThreadTraces, tuple[str, ...]]:
    """What is wanted, completed from an earlier discovery: its folder, or rocprofv3's files."""
    from wavewright.capture.plans.discovery import discovered, with_suggestion

    if not Path(path).exists():
        raise UsageError("no such file or folder", where=path, advice="--discovery takes the folder of a discovery")
    return with_suggestion(recording, discovered(path), rocm_version)
