"""Lines of code with their heat: a bar of what their cycles were, a tint, and their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wavewright.base.words import percent
from wavewright.writers.svg.plot_frame import SMALL, TEXT, Frame, cut, hint, width_of

LINE = 19.0  #: Height of a line.
_BAR, _SHARE = 150.0, 54.0  #: Widths of the column of bars, and of the one of shares at its left.
_TINT = 0.32  #: Opacity of the tint of the hottest line.
_LETTER = 0.61  #: Width of a letter of code, of its size: monospaced fonts, and the one of PNG files.
_TAB = 4
_MIN_WRITTEN_SHARE = 0.0005  #: Smaller shares are not written.
#: Part of the cycles (see `kit.heat`) -> colour.
PART_COLOURS = {"stall": "red", "issue": "green", "idle": "grey", "hidden": "sky", "sampled": "pink"}


@dataclass(frozen=True)
class HeatLine:
    """A line of source or code; a heading or a fold has no number."""

    number: str
    text: str
    parts: Mapping[str, float] = field(default_factory=dict)  #: Part -> amount.
    share: float | None = None  #: Of all; None = not executed, or a heading.
    is_heading: bool = False


def heat_height(lines: Sequence[HeatLine]) -> float:
    """The height that lines take."""
    return LINE * len(lines) + 8


def draw_heat(frame: Frame, lines: Sequence[HeatLine]) -> None:
    """Draw lines below the top of the frame: share, bar, number, text."""
    svg = frame.svg
    largest_sum = max((sum(line.parts.values()) for line in lines), default=0.0) or 1.0
    hottest = max((line.share or 0.0 for line in lines), default=0.0) or 1.0
    number_width = max((width_of(line.number, SMALL) for line in lines), default=0.0)
    bar_left = frame.left + _SHARE
    number_end = bar_left + _BAR + 14 + number_width
    text_x = number_end + 14
    for row, line in enumerate(lines):
        y = frame.top + LINE * row
        baseline = y + 13.5
        if line.is_heading:
            svg.label("p-ink p-strong", frame.left, baseline, cut(line.text, TEXT, frame.right - frame.left), size=TEXT)
            continue
        if line.share:
            opacity = round(_TINT * line.share / hottest, 3)
            left, tint_width = text_x - 6, frame.right - text_x + 6
            svg.add("rect", "p-red", x=left, y=y, width=tint_width, height=LINE, fill_opacity=opacity)
            if line.share >= _MIN_WRITTEN_SHARE:
                svg.label("p-ink p-number", bar_left - 8, baseline, percent(line.share), size=SMALL, anchor="end")
        x = bar_left
        for part, amount in line.parts.items():
            width = _BAR * amount / largest_sum
            if width >= 0.2:
                words = f"{part} {amount:,.0f}"
                svg.add("rect", f"p-{PART_COLOURS[part]}", title=words, x=x, y=y + 3, width=width, height=LINE - 6)
            x += width
        svg.label("p-soft p-number", number_end, baseline, line.number, size=SMALL, anchor="end")
        _code(frame, line, text_x, baseline)


def _code(frame: Frame, line: HeatLine, left: float, base: float) -> None:
    """The text of a line; spaces at its start become a place, for viewers take them away."""
    text = line.text.expandtabs(_TAB)
    indent = (len(text) - len(text.lstrip())) * _LETTER * SMALL
    letters = int((frame.right - left - indent - 4) / (_LETTER * SMALL))
    text = text.strip()
    if not text or letters < 4:
        return
    short = text if len(text) <= letters else f"{text[: letters - 1]}…"
    classes = "p-ink p-code" if line.share is not None else "p-soft p-code"
    frame.svg.label(classes, left + indent, base, short, size=SMALL, title=hint(text) if short != text else "")
