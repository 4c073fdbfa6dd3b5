"""A small writer of SVG pictures: shapes and text with classes, in light and dark, that any viewer can show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from wavewright.base.shown import printable
from wavewright.errors import UsageError

THEMES = ("auto", "light", "dark")  #: auto = dark where the viewer prefers it; what makes no such choice shows light.
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_NO_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_NARROW, _WIDE = frozenset("fijlrtI.,:;|!'()[]/ "), frozenset("mwMW%@")  #: 0.3 and 0.86 of the size of the type.


def escaped(text: str) -> str:
    """A text from a capture, safe in XML: as content, and in attributes between double quotes."""
    text = _NO_XML.sub("\ufffd", printable(text))
    for character, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, name)
    return text


def text_width(text: str, size: float) -> float:
    """The approximate width of a text in a usual sans-serif font."""
    return size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.3
    if letter in _WIDE:
        return 0.86
    if letter.isupper():
        return 0.68
    return 1.0 if ord(letter) >= 0x1100 else 0.56  # Unicode has the wide letters of East Asia from there on


def fitting(text: str, size: float, width: float) -> str:
    """The text, cut with an ellipsis to a width."""
    text = printable(text)
    if text_width(text, size) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text_width(text[:middle] + "…", size) <= width else (low, middle - 1)
    return text[:low].rstrip() + "…"


class Svg:
    """A picture that grows by `add`; colours are classes, so that a theme can change them."""

    def __init__(
        self,
        width: float,
        height: float,
        *,
        title: str,
        light: Mapping[str, str],
        dark: Mapping[str, str],
        theme: str = "auto",
        about: str = "",
    ) -> None:
        if theme not in THEMES:
            raise UsageError(f"no theme {theme[:40]!r}", advice=f"there are {', '.join(THEMES)}")
        base = light if theme != "dark" else {**light, **dark}
        style = "".join(f".{name}{{{rules}}}" for name, rules in base.items())
        if theme == "auto":
            style += "@media (prefers-color-scheme:dark){" + "".join(f".{n}{{{r}}}" for n, r in dark.items()) + "}"
        across, down = _number(width), _number(height)
        self._parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" role="img"',
            f' width="{across}" height="{down}" viewBox="0 0 {across} {down}" font-family="{FONT}">',
            f"<title>{escaped(title)}</title>",
            *([f"<desc>{escaped(about)}</desc>"] if about else []),
            f"<style>{style}</style>",
        ]

    def add(self, tag: str, classes: str = "", content: str = "", *, title: str = "", **attributes: Any) -> None:
        """Add an element; `title` is what a viewer shows when the pointer rests on it. `_` in names becomes `-`."""
        named = {"class": classes, **attributes} if classes else attributes
        written = "".join(f' {name.replace("_", "-")}="{_value(value)}"' for name, value in named.items())
        inner = (f"<title>{escaped(title)}</title>" if title else "") + escaped(content)
        self._parts.append(f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>")

    def line(self, classes: str, points: Sequence[tuple[float, float]], **attributes: Any) -> None:
        """Add an open line through points."""
        path = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.add("polyline", classes, points=path, fill="none", **attributes)

    def label(
        self, classes: str, x: float, y: float, text: str, *, size: float = 12, anchor: str = "start", title: str = "",
        **attributes: Any,
    ) -> None:  # fmt: skip
        """Add one line of text whose base line is at `y`; anchor: start, middle or end."""
        self.add("text", classes, text, title=title, x=x, y=y, font_size=size, text_anchor=anchor, **attributes)

    def text(self) -> str:
        """The whole document."""
        return "\n".join([*self._parts, "</svg>", ""])


def _value(value: float | str) -> str:
    return escaped(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
