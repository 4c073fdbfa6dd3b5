"""`wavescope convert`: a profile in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli._profile import selection_options
from wavescope.cli._writing import FORMATS, format_option, write_chosen, writing_options

if TYPE_CHECKING:
    from pathlib import Path

    from wavescope.analysis.profile.selection import ProfileSelection

__all__ = ["command"]


_FORMATS = "\n".join(f"  {name:<11} {form.meaning}" for name, form in sorted(FORMATS.items()))


@click.command(epilog=f"\b\nFormats:\n{_FORMATS}")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@format_option("What to write; see below.")
@writing_options("OUT")
@selection_options
def command(
    paths: tuple[str, ...], file_format: str, output: Path, selection: ProfileSelection, **options: bool
) -> None:
    """Write profiles in another format: what other tools read, or tables.

    PATHS are profiles (ROCpd, RPD, rocprofv3 CSV or JSON, Kineto, ...) or folders of them; all of them become one
    output. Inputs are never changed.

    \b
    wavescope convert results.db -f parquet -o tables/
    wavescope convert trace.rpd -f rocpd -o results.db
    wavescope convert ranks/ -f arrow -o tables/ --rank 0 --time 30%:60%
    """
    write_chosen(paths, file_format, output, selection, **options)
