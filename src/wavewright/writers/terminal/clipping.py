"""Lines of text in the width and the characters that a console has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import ConsoleOptions
    from rich.text import Text


def fitted(text: Text, options: ConsoleOptions) -> Text:
    """The line cut to the width of the console, without its empty end; an ellipsis is a tilde where ASCII must do."""
    text.rstrip()
    text.truncate(options.max_width, overflow="ellipsis")
    if options.ascii_only:
        text.plain = text.plain.replace("…", "~")
    text.no_wrap = True
    return text
