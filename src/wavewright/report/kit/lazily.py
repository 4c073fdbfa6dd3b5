"""Functions named by text, imported when they are first called: a list of topics itself imports none of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import RenderableType

    from wavewright.report.kit.topic import Wording

    Parts = Iterable[RenderableType]

_PACKAGE = "wavewright."
#: Functions that are called otherwise than the topic that they answer.
_TOPICS = {"critical-path": "path", "launch-statistics": "launches", "diagnose-run": "diagnose", "recording": "about"}


def function_of(reference: str) -> Callable[..., Any]:
    """What `module:name` names, in a module of wavewright.

    Examples
    --------
    >>> function_of("base.words:percent")(0.5)
    '50.0 %'
    """
    module, _, name = reference.partition(":")
    function: Callable[..., Any] = getattr(import_module(_PACKAGE + module), name)
    return function


def kept_as(reference: str, *choice: tuple[tuple[str, Any], ...]) -> tuple[Any, ...]:
    """The key of `Document.kept` for an answer: ("topic", NAME) without any choice, which pictures use as well.

    Examples
    --------
    >>> kept_as("analysis.run.gaps:gaps", (), ()), kept_as("analysis.run.gaps:gaps", (("rank", 0),))
    (('topic', 'gaps'), ('topic', 'gaps', (('rank', 0),)))
    """
    name = reference.partition(":")[2].replace("_", "-")
    return ("topic", _TOPICS.get(name, name), *(choice if any(choice) else ()))


def worded_by(reference: str, *names: str, **fixed: Any) -> Callable[[Any, Wording], Parts]:
    """The words of an answer by the report function `reference`, which takes these parts of a wording by name."""

    def words(answer: Any, wording: Wording) -> Parts:
        parts: Parts = function_of(reference)(answer, **{name: getattr(wording, name) for name in names}, **fixed)
        return parts

    return words


def asking(reference: str) -> Callable[..., Any]:
    """A function that is imported when it is called.

    Examples
    --------
    >>> asking("base.words:percent")(0.5)
    '50.0 %'
    """

    def ask(*arguments: Any, **named: Any) -> Any:
        return function_of(reference)(*arguments, **named)

    return ask
