"""Numbers of the command line, within the bounds that are declared for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wavewright.base.bounds import Bounds


class Whole(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """An integer within bounds; the bounds are said to who leaves them, not in the help of every verb.

    With a letter it may be written as the handle by which answers name things: r3 for rank 3.
    """

    name = "integer"
    kind = "an integer"

    def __init__(self, bounds: Bounds, letter: str = "") -> None:
        self.bounds = bounds
        self.letter = letter

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that was typed, within its bounds."""
        try:
            number = self.number(without_letter(str(value), self.letter))
        except ValueError:
            self.fail(f"{str(value)[:40]!r} is not {self.kind}.", param, ctx)
        if not self.bounds.holds(number):
            low, high = self.bounds
            self.fail(f"{str(value)[:40]} is not from {low:,} to {high:,}.", param, ctx)
        return number

    def number(self, text: str) -> float:
        """The number of a text."""
        return int(text)


def without_letter(text: str, letter: str) -> str:
    """The number of a handle of this letter; other texts as they are.

    Examples
    --------
    >>> without_letter("r3", "r"), without_letter("3", "r"), without_letter("rank", "r")
    ('3', '3', 'rank')
    """
    rest = text.removeprefix(letter)
    return rest if rest.isascii() and rest.isdigit() else text


class Real(Whole):
    """Any number within bounds."""

    name = "float"
    kind = "a number"

    def number(self, text: str) -> float:
        """The number of a text."""
        return float(text)


class Mask(Whole):
    """A mask or a number, decimal or 0x..."""

    kind = "a number, as 17 or 0x11"

    def number(self, text: str) -> float:
        """The number of a text."""
        return int(text, 0)
