"""How topics ask about runs: the chosen part of the run, kernels by handle, and what is asked next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.model.report import NextQuestion
from wavewright.page.protocol.question import Parameters, text
from wavewright.report.kit.handles import handle, handle_parser, is_handle, parse_handle
from wavewright.report.kit.lazily import function_of, kept_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wavewright.analysis.run.diagnose import RunDiagnosis
    from wavewright.model.run import Run
    from wavewright.page.protocol.document import Document

_DRAWN_BINS = 240  #: Points of curves, as `report.run.pictures` draws them.
#: Verbs of the command line that are the topic of another name.
_ASKED_AS = {"top": "kernels"}


def time_window(given: str) -> tuple[str | None, str | None]:
    """A parser of windows `A:B`, as of --time: percent, times with units since the start, or nanoseconds.

    Examples
    --------
    >>> time_window("1.5s:2s"), time_window("30%:")
    (('1.5s', '2s'), ('30%', None))
    """
    begin, colon, end = given[:100].partition(":")
    if not colon or not (begin.strip() or end.strip()):
        raise UsageError(f"{given[:40]!r} is not a window A:B, A: or :B", advice="such as 30%:60% or 1.5s:2s")
    return begin.strip() or None, end.strip() or None


#: What every topic about runs can be limited to.
CHOICE: Parameters = {
    "rank": handle_parser("r"),
    "gpu": handle_parser("g"),
    "kernel": text,
    "time": time_window,
}


def kernel_pattern(document: Document, given: str) -> str:
    """What chooses kernels: part of a name or a /REGEX/ as given, or the one kernel that a handle such as k3 names."""
    if not (is_handle(given) and given.startswith("k")):
        return given
    names = kernel_names(document)
    number = parse_handle(given, "k")
    if number >= len(names):
        raise UsageError(f"there is no kernel {given}", advice=f"k0 to k{len(names) - 1}" if names else "there is none")
    return f"/^{re.escape(names[number])}$/"


def kernel_names(document: Document) -> list[str]:
    """The kernels of the whole run, the one with most time first: their places are their handles."""
    return list(asked(document, "analysis.run.kernels:kernels").kernels["name"])


def asked(document: Document, reference: str, **parameters: Any) -> Any:
    """The answer of an analysis about the run, or the chosen part of it; each is computed once."""
    choice = {name: parameters.pop(name) for name in CHOICE if parameters.get(name) is not None}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    key = kept_as(reference, tuple(sorted(choice.items())), tuple(sorted(parameters.items())))
    return document.kept(key, lambda: function_of(reference)(_chosen(document, choice), **parameters))


def asked_by(reference: str) -> Callable[..., Any]:
    """The answer function of a topic: an analysis of runs, named by text."""

    def answer(document: Document, **parameters: Any) -> Any:
        return asked(document, reference, **parameters)

    return answer


def asked_as_drawn(reference: str) -> Callable[..., Any]:
    """The answer function of a topic whose picture has more points than its words: both take the picture's answer."""

    def answer(document: Document, **choice: Any) -> Any:
        if any(value is not None for value in choice.values()):
            return asked(document, reference, **choice)
        name = reference.partition(":")[2]
        return document.kept(("plot", name), lambda: function_of(reference)(document.run, bins=_DRAWN_BINS))

    return answer


def ranks_asked(document: Document, **choice: Any) -> Any:
    """How work is spread over ranks.

    Raises
    ------
    UsageError
        When there is one process only.
    """
    if document.run.count("processes") < 2:
        raise UsageError("one process: there is nothing to compare it with", where=document.label)
    return asked(document, "analysis.run.ranks:ranks", **choice)


def _chosen(document: Document, choice: dict[str, Any]) -> Run:
    if not choice:
        return document.run
    from wavewright.analysis.run.choice import RunSelection
    from wavewright.analysis.run.selection import select

    begin, end = choice.get("time", (None, None))
    selection = RunSelection(
        kernel=kernel_pattern(document, choice["kernel"]) if "kernel" in choice else None,
        ranks=(choice["rank"],) if "rank" in choice else (),
        gpus=(choice["gpu"],) if "gpu" in choice else (),
        begin=begin,
        end=end,
    )
    run: Run = document.kept(("chosen run", selection), lambda: select(document.run, selection))
    return run


def kernels_named(document: Document, *, name: str = "", **choice: Any) -> Any:
    """Kernels by part of their name, or by handle."""
    return asked(document, "analysis.run.kernels:kernels", name=kernel_pattern(document, name) or None, **choice)


def budget_asked(document: Document, **choice: Any) -> Any:
    """The time budget, of the same numbers as the diagnosis."""
    from wavewright.analysis.run.budget import budget_of

    return budget_of(asked(document, "analysis.run.diagnose:diagnose_run", **choice))


def after_diagnosis(document: Document, answer: RunDiagnosis) -> Iterator[NextQuestion]:
    """What to look at for each finding, then the hottest kernel."""
    from wavewright.analysis.run.diagnose.rules import RULES

    seen = set()
    for number, finding in enumerate(answer.findings[:3], 1):
        words = RULES[finding.rule].next_command.split()
        if len(words) < 2:
            continue
        topic = _ASKED_AS.get(words[1], words[1])
        window = next((each.window for each in finding.evidence if each.window), "")
        parameters = {"time": window} if "{window}" in words and window else {}
        if topic == "kernels" and finding.evidence:
            parameters = _kernel_of(document, finding.evidence[0].what)
        key = (topic, *parameters.values())
        if key not in seen:
            seen.add(key)
            yield NextQuestion(topic, parameters, f"{handle('f', number)}: {finding.name}")
    if answer.kernels.height and ("kernels", "k0") not in seen:
        yield NextQuestion("kernels", {"name": handle("k", 0)}, "the kernel with most time")
    if not seen:
        yield NextQuestion("summary", {}, "where the time went")


def _kernel_of(document: Document, name: str) -> dict[str, str]:
    """The parameter that names a kernel; none where it is not one of the run."""
    names = kernel_names(document)
    return {"name": handle("k", names.index(name))} if name in names else {}


def after_summary(_document: Document, _answer: Any) -> Iterator[NextQuestion]:
    """Findings, then the hottest kernel."""
    yield NextQuestion("diagnose", {}, "what set the time")
    yield NextQuestion("kernels", {"name": handle("k", 0)}, "the kernel with most time")


def after_gaps(_document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The longest gap by itself, and how work is launched."""
    yield NextQuestion("launches", {}, "by which calls, and how long before it starts")
    yield NextQuestion("path", {}, "which chain of events set the time")


def after_kernels(_document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The first kernel of the list, then what is beside it."""
    if answer.kernels.height > 1:
        yield NextQuestion("kernels", {"name": handle("k", 0)}, "the kernel with most time")
    yield NextQuestion("overlap", {}, "what runs at the same time")
    yield NextQuestion("diagnose", {}, "whether kernels set the time at all")


def after_ranks(_document: Document, answer: Any) -> Iterator[NextQuestion]:
    """Collectives, then the rank that waits least."""
    yield NextQuestion("collectives", {}, "who is late, and why")
    ranked = answer.processes.filter(answer.processes["rank"].is_not_null())
    if ranked.height:
        busiest = ranked.sort("compute_ns", "rank", descending=[True, False])["rank"][0]
        yield NextQuestion("summary", {"rank": handle("r", busiest)}, "the rank with most computation")
