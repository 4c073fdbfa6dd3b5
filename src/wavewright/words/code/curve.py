"""Live registers over the rows of a kernel, drawn with characters, with the limits of waves per SIMD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from wavewright.model.blocks import Part, Sentence, sentence
from wavewright.writers.terminal.texts import fitted

_STEPS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 8
_CURVE, _LIMIT = "#56B4E9", "#E69F00"
_DEEPEST = 9


def live_curve(
    live: Sequence[int], depths: Sequence[int], limits: Mapping[int, str], *, width: int, height: int = _HEIGHT
) -> list[Sentence]:
    """One column per group of rows, as high as the most live registers in it; `limits`: registers -> a word.

    Below it stands how many loops are around the rows of a column.

    >>> for line in live_curve([1, 4, 8, 2], [0, 1, 1, 0], {8: "4 waves"}, width=24, height=2):
    ...     print(line.text)
      8 ┤╌╌█╌╌╌╌╌╌╌ 4 waves
      4 ┤▂██▄
    loops 11
    """
    top = max([*live, *limits, 1])
    labels = {level: word for level, word in limits.items() if level <= top}
    room = max([0, *map(len, labels.values())])
    digits = max(3, len(f"{top:,}"))
    cells = max(8, width - digits - 3 - room - 1)
    values = _columns(live, cells)
    lines = []
    rows_of_limits = {min(height - 1, max(0, -(-level * height // top) - 1)): level for level in sorted(labels)}
    for at in reversed(range(height)):
        limit = rows_of_limits.get(at)
        mark = limit if limit is not None else round((at + 1) * top / height)
        parts: list[Part] = [(f"{mark:>{digits},} ┤", "dim")]
        for value in values:
            eighths = max(0, min(8, round(8 * (value * height / top - at))))
            if value and at == 0:
                eighths = max(1, eighths)
            empty = (" ", "") if limit is None else ("╌", _LIMIT)
            parts.append((_STEPS[eighths], _CURVE) if eighths else empty)
        if limit is not None:
            parts.append(("╌" * (cells - len(values)) + f" {labels[limit]}", _LIMIT))
        lines.append(fitted(sentence(*parts), width))
    deep = _columns(depths, cells)
    if any(deep):
        marks = "".join(str(min(_DEEPEST, depth)) if depth else " " for depth in deep)
        lines.append(sentence((f"{'loops':<{digits + 2}}{marks}".rstrip(), "dim")))
    return lines


def _columns(values: Sequence[int], cells: int) -> list[int]:
    """The most of each of at most `cells` equal parts."""
    if len(values) <= cells:
        return list(values)
    edges = [len(values) * cell // cells for cell in range(cells + 1)]
    return [max(values[begin:end]) for begin, end in pairwise(edges)]
