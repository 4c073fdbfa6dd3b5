"""Words on one line: most of a report, so that rich's ways for styles and wrapping are taken only if needed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.text import Text


class Line(Text):
    """Printable text that is cut rather than wrapped; looks exactly as a `Text` that says so."""

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
