"""Kinds of losses (losses.toml): what can be lost, guessed or left unread, each with its sentence and its remedy."""

from __future__ import annotations

import re

from wavewright.facts.loader import Fact, FactTable

_BY_COUNT = re.compile(r"\[([^][|]*)\|([^][|]*)\]")


class LossKind(Fact, frozen=True):
    """A kind of loss: `message` may use {count} and {detail}, and [one|several] for words that depend on the count."""

    name: str
    message: str
    advice: str
    #: Whether data is missing or may be wrong; False = worth knowing, but `--strict` does not mind.
    is_damage: bool = True
    counted_in: str = "times"  #: What the count of such a loss counts.
    #: Whether it changes no number, so that `info` tells it and the other verbs do not repeat it.
    is_for_info: bool = False

    def worded(self, count: int = 2) -> str:
        """The message for one or for several, with {count} and {detail} still to be filled in."""
        return _BY_COUNT.sub(r"\1" if count == 1 else r"\2", self.message)


LOSSES = FactTable("losses.toml", LossKind)  #: Every kind of loss, by name.
