"""Places for labels of pictures, so that they do not lie on each other: among alternatives, or along a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle of a picture, whose y axis points down."""

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
        """Mark areas as occupied."""
        self._boxes += boxes

    def first_free(self, places: Sequence[Sequence[Box]]) -> int:
        """The index of the place, each of several boxes, that touches the fewest occupied areas; it is occupied then.

        Of equal ones the first: callers list places by preference.
        """
        overlap_counts = [sum(box.touches(other) for box in boxes for other in self._boxes) for boxes in places]
        best = overlap_counts.index(min(overlap_counts))
        self.take(places[best])
        return best


def spread_apart(wishes: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near ascending wishes, at least `gap` apart and within the bounds if they fit.

    >>> spread_apart([1, 2, 99], 10, 0, 100), spread_apart([95, 96], 10, 0, 100)
    ([1, 11, 99], [90, 100])
    """
    positions: list[float] = []
    for wish in wishes:  # up: away from the one below
        positions.append(max(wish, positions[-1] + gap if positions else low))
    ceiling = high
    for index in reversed(range(len(positions))):  # down again: those that were pushed beyond the upper bound
        positions[index] = min(positions[index], ceiling)
        ceiling = positions[index] - gap
    return positions
