"""Choices of questions about runs: the chosen part of the run, and kernels by handle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.questions.kit.groups import RUN_TIME
from wavewright.questions.kit.parameters import Parameters, kernel_of_handle, text
from wavewright.questions.kit.question import A, Question, answer_key
from wavewright.words.kit.handles import handle_parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.analysis.run.kernels import Kernels
    from wavewright.model.document import Document
    from wavewright.model.run import Run


def time_window(given: str) -> tuple[str | None, str | None]:
    """A parser of windows `A:B`, as of --time: percent, times with units since the start, or nanoseconds.

    >>> time_window("1.5s:2s"), time_window("30%:")
    (('1.5s', '2s'), ('30%', None))
    """
    start, colon, end = given[:100].partition(":")
    if not colon or not (start.strip() or end.strip()):
        raise UsageError(f"{given[:40]!r} is not a window A:B, A: or :B", advice="such as 30%:60% or 1.5s:2s")
    return start.strip() or None, end.strip() or None


#: What every question about runs can be limited to.
CHOICE: Parameters = {"rank": handle_parser("r"), "gpu": handle_parser("g"), "kernel": text, "time": time_window}


class RunQuestion(Question[A]):
    """A question about a run; its analysis takes the run, and what of its parameters chooses no part of it."""

    kind = "run"
    usual_group = RUN_TIME

    def asked(self, document: Document, **parameters: Any) -> A:
        """The answer about the run, or the chosen part of it."""
        return asked(document, self.name, self.analysis().of, **parameters)


def asked(document: Document, question: str, function: Callable[..., A], **parameters: Any) -> A:
    """The answer of an analysis about the run, or the chosen part of it; each is computed once."""
    choice = {key: parameters.pop(key) for key in CHOICE if parameters.get(key) is not None}
    parameters = {key: value for key, value in parameters.items() if value is not None}
    key = answer_key(question, choice, parameters)
    return document.kept(key, lambda: function(_chosen(document, choice), **parameters))


def _chosen(document: Document, choice: dict[str, Any]) -> Run:
    if not choice:
        return document.run
    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.analysis.run.select.chosen import select

    start, end = choice.get("time", (None, None))
    selection = RunSelection(
        kernel=kernel_pattern(document, choice["kernel"]) if "kernel" in choice else None,
        ranks=(choice["rank"],) if "rank" in choice else (),
        gpus=(choice["gpu"],) if "gpu" in choice else (),
        begin=start,
        end=end,
    )
    run: Run = document.kept(("chosen run", selection), lambda: select(document.run, selection))
    return run


def kernel_pattern(document: Document, given: str) -> str:
    """The pattern that chooses kernels: part of a name, a /REGEX/, or the one kernel that a handle such as k3 names."""
    name = kernel_of_handle(given, lambda: kernel_names(document), without="there is none")
    return given if name is None else f"/^{re.escape(name)}$/"


def kernel_names(document: Document) -> list[str]:
    """The kernels of the whole run, the one with most time first: their places are their handles."""
    from wavewright.analysis.run.kernels import kernels

    return list(asked(document, "kernels", kernels, name=None).kernels["name"])


def kernels_named(document: Document, *, name: str = "", **choice: Any) -> Kernels:
    """Kernels by part of their name, or by handle."""
    from wavewright.analysis.run.kernels import kernels

    answer = asked(document, "kernels", kernels, name=kernel_pattern(document, name) or None, **choice)
    if not document.path or not Path(document.path).is_dir():
        return answer
    from wavewright.analysis.beside import with_evidence  # imports the analysis of traces

    key = ("evidence", name, tuple(sorted(choice.items())))
    return document.kept(key, lambda: with_evidence(answer, document.path))
