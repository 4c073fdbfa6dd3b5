"""Arrows between the lines of a listing, drawn with characters in lanes at its left.

An arrow has one head (a row that waits, or the target of a branch) and one or more tails (the rows it waits for, or
the branches). It occupies one lane from its first to its last line; tails join the lane, the head leaves it. Where
the way to the text crosses a lane that the line does not join, that lane is drawn through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from wavewright.model.blocks import Part, Sentence, sentence

#: Okabe-Ito without black; arrows take them in rotation.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")


@dataclass(frozen=True)
class Glyphs:
    """The characters of a drawing."""

    vertical: str
    horizontal: str
    folded: str
    head: str
    itself: str
    joints: str  #: Eight joints, by 4 x up + 2 x down + left; all of them lead to the right.


UNICODE = Glyphs("│", "─", "┆", "▶", "↻", "╶─╭┬╰┴├┼")
ASCII = Glyphs("|", "-", ":", ">", "@", "--,,``++")


@dataclass(frozen=True)
class Arrow:
    """One arrow: the line it points at, the lines it comes from, and how much it matters."""

    head: int
    tails: tuple[int, ...]
    weight: float = 0.0  #: When there are not enough lanes, heavier arrows are drawn first.

    @property
    def span(self) -> tuple[int, int]:
        """First and last line of the arrow."""
        return min(self.head, *self.tails), max(self.head, *self.tails)


@dataclass(frozen=True)
class Drawing:
    """Arrows in lanes; lane 0 is nearest to the text."""

    lanes: Mapping[Arrow, int]  #: The arrows that are drawn, each with its lane.
    colours: Mapping[Arrow, str]
    left_out: Mapping[int, int]  #: First shown end (head first) of each arrow without a lane -> number of its tails.
    folded: Collection[int]  #: Lines that stand for rows that are not shown.
    glyphs: Glyphs
    by_line: Mapping[int, Mapping[int, Arrow]]  #: Line -> lane -> the arrow that is there; lanes never hold two.

    @property
    def lane_count(self) -> int:
        """Number of lanes in use."""
        return max(self.lanes.values(), default=-1) + 1

    @property
    def width(self) -> int:
        """Characters per line."""
        return 2 * self.lane_count

    def line(self, number: int) -> Sentence:
        """The part of the drawing that stands at the left of a line.

        >>> draw_arrows([Arrow(head=1, tails=(0,))]).line(1).text
        '╰▶'
        """
        arrows = self.by_line.get(number, {})
        is_fold = number in self.folded
        joined = {lane for lane, arrow in arrows.items() if not is_fold and number in (arrow.head, *arrow.tails)}
        pieces: list[Part] = []
        through_colour = ""  # of the line that runs to the text; empty = none does
        for lane in reversed(range(self.lane_count)):
            arrow = arrows.get(lane)
            if arrow is None:
                pieces += [(self.glyphs.horizontal if through_colour else " ", through_colour)] * 2
                continue
            colour = self.colours[arrow]
            if lane in joined:
                pieces.append((self._joint(arrow, number, left=bool(through_colour)), colour))
                through_colour = colour
            else:
                pieces.append((self.glyphs.folded if is_fold else self.glyphs.vertical, colour))
            pieces.append((self.glyphs.horizontal if through_colour else " ", through_colour))
        heads = [arrows[lane] for lane in sorted(joined) if arrows[lane].head == number]
        if heads:
            pieces[-1] = (self.glyphs.head, self.colours[heads[0]])  # in the place of the last line to the text
        return sentence(*pieces)

    def _joint(self, arrow: Arrow, number: int, *, left: bool) -> str:
        """The character that connects the lane of an arrow with a line that it belongs to."""
        first, last = arrow.span
        joint = self.glyphs.joints[4 * (number > first) + 2 * (number < last) + left]
        return self.glyphs.itself if first == last else joint


def draw_arrows(
    arrows: Iterable[Arrow], *, folded: Collection[int] = (), max_lanes: int = 8, glyphs: Glyphs = UNICODE
) -> Drawing:
    """Give every arrow a lane: the shortest ones next to the text, never two in one lane of one line.

    Lines in `folded` stand for rows that are not shown: an arrow goes into them without joining. Arrows that join no
    line that is shown are dropped. Those that do not fit into `max_lanes` are counted in `left_out`; heavier ones are
    kept first.

    >>> drawing = draw_arrows([Arrow(3, (0,)), Arrow(2, (1,))])
    >>> print("\\n".join(drawing.line(number).text for number in range(4)))
    ╭───
    │ ╭─
    │ ╰▶
    ╰──▶
    """
    seen = [arrow for arrow in dict.fromkeys(arrows) if any(end not in folded for end in (arrow.head, *arrow.tails))]
    lanes = _lanes(_nearest_first(seen), max_lanes)
    if len(lanes) < len(seen):
        by_weight = _lanes(sorted(seen, key=lambda arrow: -arrow.weight), max_lanes)  # decides which are drawn
        by_length = _lanes(_nearest_first(by_weight), max_lanes)  # is easier to read, but may not hold all of them
        lanes = by_length if len(by_length) == len(by_weight) else by_weight
    left_out: dict[int, int] = {}
    for arrow in seen:
        if arrow not in lanes:
            line = next(end for end in (arrow.head, *arrow.tails) if end not in folded)
            left_out[line] = left_out.get(line, 0) + len(arrow.tails)
    by_line: dict[int, dict[int, Arrow]] = {}
    for arrow, lane in lanes.items():
        for number in range(arrow.span[0], arrow.span[1] + 1):
            by_line.setdefault(number, {})[lane] = arrow
    in_order = sorted(lanes, key=lambda arrow: arrow.head)
    colours = {arrow: COLOURS[number % len(COLOURS)] for number, arrow in enumerate(in_order)}
    return Drawing(lanes, colours, left_out, frozenset(folded), glyphs, by_line)


def _nearest_first(arrows: Iterable[Arrow]) -> list[Arrow]:
    return sorted(arrows, key=lambda arrow: (arrow.span[1] - arrow.span[0], arrow.head))


def _lanes(arrows: Sequence[Arrow], max_lanes: int) -> dict[Arrow, int]:
    """Each arrow in the first lane whose lines are free, in the order given; some may find none."""
    taken = [0] * max_lanes  # of each lane, a bit per line
    lanes = {}
    for arrow in arrows:
        first, last = arrow.span
        lines = ((1 << (last - first + 1)) - 1) << first
        lane = next((lane for lane in range(max_lanes) if not taken[lane] & lines), None)
        if lane is not None:
            taken[lane] |= lines
            lanes[arrow] = lane
    return lanes
