"""Answers of an exported page: all that its questions list, each under the key by which the page asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wavewright.page.protocol.payload import key_of
from wavewright.page.questions import questions_about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wavewright.model.document import Document


@dataclass(frozen=True)
class HeldAnswer:
    """An answer that an exported page holds."""

    document: int
    question: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key by which the page asks for it."""
        return key_of(self.document, self.question, self.parameters)


def held_by(document: Document) -> Iterator[HeldAnswer]:
    """Every answer about a document that an exported page holds."""
    for question in questions_about(document.kind).values():
        for parameters in question.held(document):
            yield HeldAnswer(document.number, question.name, {name: _text(value) for name, value in parameters.items()})


def _text(value: Any) -> str:
    """A parameter as JavaScript writes it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
