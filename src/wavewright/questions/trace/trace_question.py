"""Choices of questions about thread traces: the chosen part of the trace, and instructions by handle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.bounds import AMOUNT, ENGINE
from wavewright.errors import UsageError
from wavewright.questions.kit.groups import KERNEL_TIME
from wavewright.questions.kit.parameters import Number, OneOf, Parameters, kernel_of_handle, text
from wavewright.questions.kit.question import A, Needs, Question, answer_key
from wavewright.words.kit.handles import parse_code_place

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace
    from wavewright.words.kit.handles import InstructionHandle

#: What every question about instructions can be limited to.
CHOICE: Parameters = {"kernel": text, "se": Number(ENGINE), "file": text, "line": Number(AMOUNT)}
_WAVES = ("kernel", "se")  #: Choices of waves; the other ones, file and line, are of code rows.
_UNITS = ("instruction", "line", "file", "function", "kernel", "block", "loop", "kind")
UNIT = OneOf("cycles are not added up by", _UNITS)  #: The costliest units that hotspots can be of.

AT: Parameters = {"at": parse_code_place}  #: An instruction, by its handle.
LINES: Parameters = {"lines": Number(AMOUNT)}  #: How many lines to show.


class TraceQuestion(Question[A]):
    """A question about a thread trace; its analysis takes the trace, and the chosen code rows as `rows`."""

    kind = "trace"
    usual_group = KERNEL_TIME

    def asked(self, document: Document, **parameters: Any) -> A:
        """The answer about the trace, or the chosen part of it."""
        return asked(document, self.name, self.analysis().of, needs=self.needs, **parameters)


def asked(document: Document, name: str, function: Callable[..., A], *, needs: Needs = "code", **parameters: Any) -> A:
    """The answer of an analysis about the trace, or the chosen part of it; each is computed once."""
    choice = {key: parameters.pop(key) for key in CHOICE if parameters.get(key) is not None}

    def make() -> A:
        trace, rows = chosen(document, choice)
        if needs != "nothing":
            check_code(document, trace, needs=needs)
        return function(trace, rows=rows, **parameters)

    return document.kept(answer_key(name, choice, parameters), make)


def check_code(document: Document, trace: ThreadTrace, *, needs: Needs = "code") -> None:
    """Refuse a trace without instructions, or whose instructions have no code."""
    from wavewright.analysis.trace.about.overview import require_instructions, unknown_code

    require_instructions(trace, document.path or document.label)
    reason = unknown_code(trace) if needs == "code" else ""
    if reason:
        raise UsageError(reason, where=document.path or document.label)


def chosen(document: Document, choice: dict[str, Any]) -> tuple[ThreadTrace, pl.Series | None]:
    """The part of the trace with the chosen waves, and the chosen code rows; None = all."""
    from wavewright.analysis.trace.selection import Selection, select, selected_rows

    trace = document.trace
    if any(name in choice for name in _WAVES):
        engines = (choice["se"],) if "se" in choice else ()
        waves = Selection(kernel=_kernel(document, choice.get("kernel")), shader_engines=engines)
        trace = document.kept(("chosen trace", waves), lambda: select(document.trace, waves))
    line = choice.get("line")
    rows = Selection(file=choice.get("file"), first_line=line, last_line=line)
    return trace, selected_rows(trace, rows)


def _kernel(document: Document, given: str | None) -> str | None:
    """Part of the name of a kernel, or the name of the one that a handle names, by the time of its waves."""
    if given is None:
        return None

    def names() -> list[str]:
        from wavewright.analysis.trace.about.overview import entered_kernels

        return list(entered_kernels(document.trace)["name"])

    return kernel_of_handle(given, names, without="none is known") or given


def rows_of(document: Document, at: InstructionHandle) -> list[int]:
    """The code rows at an address. Raises `UsageError` when nothing is there."""
    import polars as pl

    from wavewright.analysis.trace.listing.places import rows_at

    rows = rows_at(document.trace.code, hex(at.address))
    if at.code_object is not None:
        code = document.trace.code.filter(pl.col("row").is_in(rows), pl.col("code_object") == at.code_object)
        rows = code["row"].to_list()
        if not rows:
            problem = f"no code row at {at.address:#x} of code object {at.code_object}"
            raise UsageError(problem, advice="leave out the code object")
    return rows
