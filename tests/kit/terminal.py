"""Blocks as a terminal shows them, line by line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rich.console import Console

from wavewright.writers.terminal.blocks import renderable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wavewright.model.blocks import AnyBlock


def terminal_text(blocks: Iterable[AnyBlock], width: int = 100, **how: Any) -> str:
    """The blocks in a terminal of this width."""
    out = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, **how)
    for block in blocks:
        out.print(renderable(block))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def terminal_lines(blocks: Iterable[AnyBlock], width: int = 100) -> list[str]:
    """The same as lines without the spaces at their ends."""
    return [line.rstrip() for line in terminal_text(blocks, width).splitlines()]
