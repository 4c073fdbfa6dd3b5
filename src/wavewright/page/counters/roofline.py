"""Kernels of a counter capture under the roofs of arithmetic and memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wavewright.analysis.counters.roofline import roofline
from wavewright.analysis.counters.roofline.ceilings import CHOICES
from wavewright.errors import UsageError
from wavewright.page.counters.kernels import choice_of
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import Parameters, place

if TYPE_CHECKING:
    from wavewright.model.document import Document

#: Kernels, the longest, that an answer about all of them carries (web/src/views/roofline/shapes.ts knows it, too).
MOST_KERNELS = 300


def ceilings(name: str) -> str:
    """A parser of which roofs kernels are compared with.

    Examples
    --------
    >>> ceilings("empirical")
    'empirical'
    """
    if name not in CHOICES:
        raise UsageError(f"no roofs {name[:40]!r}", advice=f"there are {', '.join(CHOICES)}")
    return name


def roofline_of(document: Document, *, ceilings: str = "best", kernel: int | None = None) -> Any:
    """Roofs and kernels (`analysis.roofline`), or one kernel; `kernels` tells how many rows it has in total."""
    if kernel is not None:
        return _roofline(document, ceilings, kernel)
    return document.kept(("counters", "roofline", ceilings), lambda: _roofline(document, ceilings, None))


def _roofline(document: Document, ceilings: str, kernel: int | None) -> dict[str, Any]:

    answer = roofline(document.counters, choice=choice_of(document, kernel), ceilings=ceilings)
    kernels = answer.kernels.head(MOST_KERNELS)
    tables = {name: getattr(answer, name).join(kernels, on="kernel", how="semi") for name in ("points", "operations")}
    content: dict[str, Any] = serialize(replace(answer, kernels=kernels, **tables), top=None)
    content["kernels"]["row_count"] = answer.kernels.height
    return content


def _every_choice(_: Document) -> list[dict[str, str]]:
    return [{}, *({"ceilings": choice} for choice in CHOICES)]


_PARAMETERS: Parameters = {"ceilings": ceilings, "kernel": place}

QUESTIONS = (PageQuestion("counter_roofline", "counters", roofline_of, _PARAMETERS, (), _every_choice),)
