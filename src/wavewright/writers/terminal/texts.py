"""Recorded words as a terminal shows them: escaped, with tones and bars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.text import Text

from wavewright.base.shown import printable
from wavewright.model.blocks import Cell, Mark, Sentence
from wavewright.writers.terminal.bars import bar


class Line(Text):
    """Printable text on one line that is cut rather than wrapped; looks exactly as a `Text` that says so.

    Most of a report is of this kind, so that rich's slower ways for styles and wrapping are taken only if needed.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, no_wrap=True, overflow="ellipsis")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        """See `Text`."""
        text = self.plain
        width = options.max_width - cell_len(text)
        if width < 0 or self.spans or self.style or options.justify not in ("left", "right"):
            yield from super().__rich_console__(console, options)
            return
        if options.justify == "left":
            yield Segment(text + " " * width)
        else:
            stripped = text.rstrip()
            yield Segment(" " * (width + len(text) - len(stripped)) + stripped)
        yield Segment(self.end)


def printable_lines(words: str) -> str:
    """Words whose line ends stay; all else is as `printable` has it."""
    return "\n".join(map(printable, words.split("\n")))


def marked_text(words: str, marks: Iterable[Mark], tone: str = "", *, has_lines: bool = False) -> Text:
    """Words with tones; letters that become escapes move the marks that follow."""
    escape = printable_lines if has_lines else printable
    text, end = Text(style=tone), 0
    for mark in marks:
        text.append(escape(words[end : mark.begin]))
        text.append(escape(words[mark.begin : mark.end]), mark.tone)
        end = mark.end
    return text.append(escape(words[end:]))


def cell_text(cell: Cell, bar_width: int | None = None) -> Text:
    """A cell with its tones and its bar, which has at most `bar_width` characters."""
    text = marked_text(cell, cell.marks, cell.tone, has_lines=True)
    if cell.share is None:
        return text
    width = cell.bar_width if bar_width is None else min(bar_width, cell.bar_width)
    return text.append(bar(cell.share, width))


def fitted(line: Sentence, width: int, *, ascii_only: bool = False) -> Sentence:
    """A line of a listing cut to a width, without its empty end; an ellipsis is a tilde where ASCII must do."""
    text = line.text.rstrip()
    end = len(text)
    if cell_len(text) > width:
        start = set_cell_size(text, max(0, width - 1))
        # rich puts a space where half of a wide character would be
        end = len(start) if text.startswith(start) else len(start) - 1
        text = f"{text[:end]}…"
    marks = (mark if mark.end <= end else mark._replace(end=end) for mark in line.marks if mark.begin < end)
    return replace(line, text=text.replace("…", "~") if ascii_only else text, marks=tuple(marks))
