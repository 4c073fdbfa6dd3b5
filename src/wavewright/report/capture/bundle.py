"""What is inside a bundle, for the terminal: somebody decides whether to send it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wavewright.base.shown import shown
from wavewright.base.words import amount, counted
from wavewright.report.kit.fitted_table import FittedTable
from wavewright.report.kit.paragraphs import labelled
from wavewright.report.kit.tables import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from wavewright.capture.bundle import Bundle

_LISTED_MAX = 200
_LEFT_OUT_LISTED_MAX = 20


def bundle_report(bundle: Bundle, *, width: int) -> Iterator[RenderableType]:
    """The files, what was masked, and what stayed."""
    files = bundle.files[:_LISTED_MAX]
    table = FittedTable(f"{counted(len(bundle.files), 'files')} in {printable(shown(str(bundle.path)))}")
    table.add("file", [one_line(file.name) for file in files], "rest")
    table.add("size", [amount(file.size_bytes) for file in files], "number")
    table.add("what it is", [one_line(file.what) for file in files], "words")
    yield table
    if len(bundle.files) > len(files):
        yield Text(f"and {len(bundle.files) - len(files):,} more")
    for reason in bundle.left_out[:_LEFT_OUT_LISTED_MAX]:
        yield labelled("left out", printable(reason))
    if len(bundle.left_out) > _LEFT_OUT_LISTED_MAX:
        yield labelled("left out", f"{len(bundle.left_out) - _LEFT_OUT_LISTED_MAX:,} more")
    yield labelled("masked", f"{counted(bundle.masked_count, 'places')}: names, addresses, tokens, source, variables")
    yield labelled(
        "next", f"look through it, then send {printable(shown(str(bundle.path)))} ({amount(bundle.size_bytes)})"
    )
