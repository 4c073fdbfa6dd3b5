"""Blocks of a report as a page of Markdown: a title above them, and below them how the numbers are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.blocks import readable
from wavewright.writers.markdown.blocks import markdown_of
from wavewright.writers.markdown.escapes import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wavewright.model.blocks import AnyBlock


def markdown_page(title: str, blocks: Iterable[AnyBlock], definition: str) -> str:
    """The page, with an end of line at its end."""
    return f"# {escaped(title)}\n\n{markdown_of(readable(blocks))}\n\n## How the numbers are made\n\n{definition}\n"
