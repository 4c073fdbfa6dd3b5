"""The frame that all plots share: heading, the sentence that the plot shows, legend, colours, note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wavewright.base.shown import printable
from wavewright.model.blocks import Picture
from wavewright.writers.svg.markup import Svg, fitting, text_width

WIDTH, MARGIN = 960, 32
TEXT = 13  #: Size of labels.
SMALL = 12  #: Size of ticks and notes.
_TITLE_SIZE, _LEADING = 20, 19  #: Size of the title; distance between lines of the sentence.
_FONT_FACTOR = 1.12  #: How much wider DejaVu Sans is than the estimate of `text_width`.
_LONGEST_WORD, _LONGEST_HINT = 120, 400  #: Characters.
#: Colour -> in light, in dark. Those of Okabe and Ito, lightened where a dark page would swallow them.
COLOURS = {
    "blue": ("#0072B2", "#3793D6"),
    "orange": ("#E69F00", "#E69F00"),
    "green": ("#009E73", "#1FB58A"),
    "red": ("#D55E00", "#EB6A1C"),
    "sky": ("#56B4E9", "#8FD0F5"),
    "pink": ("#CC79A7", "#D88FB8"),
    "grey": ("#8C959F", "#7D8590"),
    "pale": ("#C6CED6", "#4A5460"),
}
_LIGHT = {"paper": "#ffffff", "ink": "#1b1f24", "soft": "#57606a", "grid": "#e4e8ec"}
_DARK = {"paper": "#0d1117", "ink": "#e6edf3", "soft": "#9da7b3", "grid": "#262c34"}


def width_of(text: str, size: float) -> float:
    """The largest width of a text: the font of PNG files (DejaVu Sans) is wider than most."""
    return text_width(text, size) * _FONT_FACTOR


def cut(text: str, size: float, width: float) -> str:
    """The text, cut with an ellipsis to a width in any font."""
    return fitting(text, size, width / _FONT_FACTOR).replace("……", "…")


def cut_middle(text: str, size: float, width: float) -> str:
    """The text, cut in its middle to a width in any font, so that a number at its end stays.

    >>> cut_middle("a_node_with_a_very_long_name GPU 7", 12, 150)
    'a_node_wi…me GPU 7'
    """
    text = printable(text)
    shown = len(text)
    while shown > 1 and width_of(text if shown == len(text) else _around(text, shown), size) > width:
        shown -= 1
    return text if shown == len(text) else _around(text, shown)


def _around(text: str, count: int) -> str:
    """The first and the last characters, `count` together."""
    last = count // 2
    return f"{text[: count - last].rstrip()}…{text[len(text) - last :] if last else ''}"


class Key(NamedTuple):
    """An entry of a legend."""

    colour: str
    label: str


class Frame:
    """A picture with its heading drawn; the plot itself goes between `top` and `bottom`, `left` and `right`."""

    def __init__(
        self,
        name: str,
        title: str,
        sentence: str,
        *,
        height: float,
        theme: str = "auto",
        legend: Sequence[Key] = (),
        note: str = "",
    ) -> None:
        self.name = name
        self.sentence = sentence = " ".join(map(_short_word, printable(sentence).split()))
        self.left, self.right = float(MARGIN), float(WIDTH - MARGIN)
        room = self.right - self.left
        sentence_lines, note_lines = wrapped(sentence, TEXT, room), wrapped(note, SMALL, room)
        legend_rows = _legend_rows(legend, room)
        self.top = 46.0 + _LEADING * len(sentence_lines) + 24 * len(legend_rows) + 8
        self.bottom = self.top + height
        full_height = self.bottom + 17 * len(note_lines) + (24 if note_lines else 16)
        light, dark = _style(0), _style(1)
        self.svg = Svg(WIDTH, full_height, title=title, about=self.sentence, light=light, dark=dark, theme=theme)
        self.svg.add("rect", "p-paper", x=0, y=0, width=WIDTH, height=full_height)
        self.svg.label("p-ink p-strong", self.left, 34, title, size=_TITLE_SIZE)
        for number, line in enumerate(sentence_lines):
            self.svg.label("p-soft", self.left, 57 + _LEADING * number, line, size=TEXT)
        for number, row in enumerate(legend_rows):
            self._legend(row, 61 + _LEADING * len(sentence_lines) + 24 * number)
        for number, line in enumerate(note_lines):
            self.svg.label("p-soft", self.left, self.bottom + 24 + 17 * number, line, size=SMALL)

    def _legend(self, keys: Sequence[Key], y: float) -> None:
        x = self.left
        for key in keys:
            self.svg.add("rect", f"p-{key.colour}", x=x, y=y - 10, width=12, height=12, rx=2)
            self.svg.label("p-ink", x + 18, y, key.label, size=TEXT)
            x += _key_width(key)

    def picture(self) -> Picture:
        """The drawing, with its sentence for those who do not see it."""
        return Picture(self.name, self.svg.text(), self.sentence)


def wrapped(text: str, size: float, width: float) -> list[str]:
    """The lines of a text that are at most so wide; a word that is wider is cut in its middle.

    >>> wrapped("the time of four GPUs", 10, 70)
    ['the time of', 'four GPUs']
    """
    lines: list[str] = []
    for full_word in printable(text).split():
        word = full_word if width_of(full_word, size) <= width else cut_middle(full_word[:_LONGEST_WORD], size, width)
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def hint(text: str) -> str:
    """The text that a viewer shows where the pointer rests: recorded names can be longer than any screen."""
    return text if len(text) <= _LONGEST_HINT else f"{text[:_LONGEST_HINT]}…"


def _short_word(word: str) -> str:
    """A word of a sentence; names without spaces can have thousands of letters."""
    return word if len(word) <= _LONGEST_WORD else _around(word, _LONGEST_WORD)


def _key_width(key: Key) -> float:
    return 18 + width_of(key.label, TEXT) + 20


def _legend_rows(keys: Sequence[Key], room: float) -> list[list[Key]]:
    rows: list[list[Key]] = []
    used = room
    for key in keys:
        if used + _key_width(key) > room + 20:
            rows.append([])
            used = 0.0
        rows[-1].append(key)
        used += _key_width(key)
    return rows


def _style(side: int) -> dict[str, str]:
    """Class -> its style rules in light (0) or dark (1); dark has only those with colours."""
    base = (_LIGHT, _DARK)[side]
    fixed = {
        "p-strong": "font-weight:700",
        "p-number": "font-variant-numeric:tabular-nums",
        "p-code": "font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre",
    }
    style = {
        "p-paper": f"fill:{base['paper']}",
        "p-ink": f"fill:{base['ink']}",
        "p-soft": f"fill:{base['soft']}",
        "p-grid": f"stroke:{base['grid']};stroke-width:1",
        "p-rule": f"stroke:{base['soft']};stroke-width:1",
        "p-edge": f"stroke:{base['paper']};stroke-width:1",
        "p-mark": f"stroke:{base['ink']};stroke-width:1.5;stroke-dasharray:5 3",
        "p-halo": f"stroke:{base['paper']};stroke-width:4;stroke-linejoin:round;paint-order:stroke",
    }
    for name, pair in COLOURS.items():
        style |= {
            f"p-{name}": f"fill:{pair[side]}",
            f"p-in-{name}": f"fill:{_ink_on(pair[side])}",
            f"p-line-{name}": f"stroke:{pair[side]};stroke-width:1.8;stroke-linejoin:round",
        }
    return style if side else fixed | style


def _ink_on(colour: str) -> str:
    """Black or white, whichever can be read on a colour (relative luminance as WCAG defines it)."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) >= 4 else "#0d1117"
