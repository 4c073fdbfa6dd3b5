"""Labels of pictures that do not lie on each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A part of a picture."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: Box) -> bool:
        """True if both have an area in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class Taken:
    """Occupied areas of a picture; tells which of several places is still free."""

    def __init__(self) -> None:
        self._boxes: list[Box] = []

    def take(self, boxes: Iterable[Box]) -> None:
        """Mark as taken."""
        self._boxes += boxes

    def first_free(self, places: Sequence[Sequence[Box]]) -> int:
        """The first place, each of several boxes, that touches least of what is taken, which it then is too."""
        overlaps = [sum(box.touches(other) for box in boxes for other in self._boxes) for boxes in places]
        best = overlaps.index(min(overlaps))
        self.take(places[best])
        return best


def spread_apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, in ascending order, at least `gap` apart and within the bounds if they fit."""
    placed: list[float] = []
    for value in wanted:
        placed.append(max(value, placed[-1] + gap if placed else low))
    for at in reversed(range(len(placed))):
        placed[at] = min(placed[at], high if at == len(placed) - 1 else placed[at + 1] - gap)
    return placed
