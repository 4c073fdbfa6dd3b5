"""The parts of a terminal's report as blocks of a report: the same sentences and tables for every writer."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast, get_args

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from wavewright.model.blocks import Block, Preformatted, Sentence
from wavewright.words.kit.block_tables import fitted_block, table_blocks
from wavewright.words.kit.charts import ChartLine
from wavewright.writers.terminal.fitted_table import FittedTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

_CHART_WIDTH = 100
_LOSSES = ("loss:", "note:")


def blocks_of(parts: Iterable[RenderableType | Block]) -> tuple[Block, ...]:
    """The parts as blocks, which may be among them already; empty lines between them are left to the writers.

    Examples
    --------
    >>> from rich.text import Text
    >>> blocks_of([Text("a verdict", "bold"), Text(), Text("a sentence")])
    (Sentence(text='a verdict', style='headline'), Sentence(text='a sentence', style='plain'))
    """
    blocks: list[Block] = []
    for part in parts:
        last = blocks[-1] if blocks else None
        for block in _blocks(part, is_first=not blocks):
            if isinstance(block, Preformatted) and isinstance(last, Preformatted) and block.is_chart == last.is_chart:
                blocks[-1] = Preformatted(f"{last.text}\n{block.text}", block.is_chart)  # lines of one chart
            else:
                blocks.append(block)
    return tuple(blocks)


def _blocks(part: RenderableType | Block, *, is_first: bool) -> list[Block]:
    if isinstance(part, get_args(Block)):
        return [cast("Block", part)]
    part = cast("RenderableType", part)
    if isinstance(part, Padding):
        return _blocks(part.renderable, is_first=is_first)
    if isinstance(part, FittedTable):
        return [fitted_block(part)]
    if isinstance(part, RichTable):
        return table_blocks(part)
    if isinstance(part, str | Text):
        return [block] if (block := _sentence(part, is_first=is_first)) else []
    return [chart] if (chart := _preformatted(part)) else []


def _sentence(part: str | Text, *, is_first: bool) -> Block | None:
    text = part.plain if isinstance(part, Text) else part
    if not text.strip():
        return None
    if isinstance(part, ChartLine):
        return Preformatted(text.rstrip(), is_chart=True)
    style = "headline" if is_first and isinstance(part, Text) and part.style == "bold" else "plain"
    for label in _LOSSES:
        if text.startswith(label):
            return Sentence(text.removeprefix(label).strip(), label.rstrip(":"))
    return Sentence(" ".join(text.split()), style)


def _preformatted(part: RenderableType) -> Preformatted | None:
    """A picture that fits itself to the width, as rich draws it without colours."""
    out = io.StringIO()
    plain: dict[str, Any] = {
        "color_system": None,
        "markup": False,
        "highlight": False,
        "emoji": False,
        "force_jupyter": False,
    }
    console = Console(file=out, width=_CHART_WIDTH, height=25, **plain)
    console.print(part)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    text = "\n".join(lines).strip("\n")
    return Preformatted(text, is_chart=True) if text.strip() else None
