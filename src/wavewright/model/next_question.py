"""A question to ask next: its name with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class NextQuestion(NamedTuple):
    """A question to ask next, ready to be sent."""

    topic: str  #: A name of `wavewright.questions.catalog`.
    parameters: Mapping[str, str] = {}
    reason: str = ""  #: Why: a few words.
