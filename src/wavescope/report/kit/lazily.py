"""Functions named by text, imported when they are first called: a list of topics itself imports none of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import RenderableType

    from wavescope.report.kit.topic import Wording

    Parts = Iterable[RenderableType]

_PACKAGE = "wavescope."


def function_of(reference: str) -> Callable[..., Any]:
    """What `module:name` names, in a module of wavescope.

    Examples
    --------
    >>> function_of("base.words:percent")(0.5)
    '50.0 %'
    """
    module, _, name = reference.partition(":")
    function: Callable[..., Any] = getattr(import_module(_PACKAGE + module), name)
    return function


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
