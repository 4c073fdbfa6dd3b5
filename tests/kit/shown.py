"""Blocks as a terminal shows them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from wavewright.writers.terminal.blocks import renderable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wavewright.model.blocks import AnyBlock


def shown(blocks: Iterable[AnyBlock], *, width: int = 120) -> str:
    """What a console of this width prints."""
    written = io.StringIO()
    console = Console(file=written, width=width, highlight=False, markup=False)
    for block in blocks:
        console.print(renderable(block))
    return written.getvalue()
