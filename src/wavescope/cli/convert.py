"""`wavescope convert`: a profile in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli._profile import selection_options
from wavescope.cli._writing import FORMATS, inputs_of, opened, refuse_inputs, show_written, write_as, writing_options

if TYPE_CHECKING:
    from pathlib import Path

    from wavescope.analysis.profile.selection import ProfileSelection

__all__ = ["command"]


_FORMATS = "\n".join(f"  {name:<11} {form.meaning}" for name, form in sorted(FORMATS.items()))


@click.command(epilog=f"\b\nFormats:\n{_FORMATS}")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option(
    "-f",
    "--format",
    "file_format",
    type=click.Choice(sorted(FORMATS)),
    required=True,
    help="What to write; see below.",
)
@writing_options("OUT")
@selection_options
def command(
    paths: tuple[str, ...],
    file_format: str,
    output: Path,
    force: bool,
    with_environment: bool,
    as_json: bool,
    selection: ProfileSelection,
) -> None:
    """Write profiles in another format: what other tools read, or tables.

    PATHS are profiles (ROCpd, RPD, rocprofv3 CSV or JSON, Kineto, ...) or folders of them; all of them become one
    output. Inputs are never changed.

    \b
    wavescope convert results.db -f parquet -o tables/
    wavescope convert trace.rpd -f rocpd -o results.db
    wavescope convert ranks/ -f arrow -o tables/ --rank 0 --time 30%:60%
    """
    inputs = inputs_of(paths)
    refuse_inputs([output], inputs)
    profile = opened(inputs, selection, with_environment=with_environment)
    written = write_as(file_format, profile, output, force=force)
    losses = [(source.path, source.losses) for source in profile.origins]
    show_written(paths, [written], losses, as_json=as_json)
