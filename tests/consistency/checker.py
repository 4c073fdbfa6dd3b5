"""The checker: answers of all surfaces about one capture in, contradictions out.

It knows nothing of the analyses: `facts/metrics/quantities.toml` declares quantities, `readings.py` where each is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.consistency.reader import Document, Values, read_values
from tests.consistency.readings import PARTITIONS, READINGS, has_all_time
from wavewright.facts.metrics.quantities import QUANTITIES

#: Surface -> its answer. A surface is a question by its name, or another form of its answer: `diagnose (page)`.
Answers = Mapping[str, Document]
ROUNDING = 1e-6  #: Relative: sums of floating-point numbers in another order.
_FORM = re.compile(r" \(.*\)$")
#: Shares that may exceed 1, or be below 0, by their definition: path in the answers, as `question.table.column`.
ABOVE_ONE = {
    "busy.gpus.duration_sum_share": "work at the same time counts each",
    "waits.producers.execution_share": "count per execution; several at once",
    "whatif.edits.gain_low_share": "an edit may lose time",
    "whatif.edits.gain_about_share": "an edit may lose time",
    "whatif.edits.gain_high_share": "an edit may lose time",
    "lanes.fixes.added_share": "more LDS than the arrays have",
    "ranks.causes.cause_share": "a late rank can have more of one cause and less of another",
    "collectives.causes.cause_share": "a late rank can have more of one cause and less of another",
}
#: Percentages of peaks: some counters count more than the peak of their unit, and a caveat of the answer says so.
PERCENTAGES = {"peak_share", "rate_share"}

#: Kinds of findings -> the times that they promise together: what holds up the host may be hidden by communication.
_TIMES = (
    {"idle": "idle_share", "communication": "communication_share"},
    {"communication": "communication_share"},
    {"copies": "copy_share"},
)
#: Rules about one rank that holds up the others: what it costs all of them is more than the mean of their waits.
_ACROSS = ("X2", "X3")


class Contradiction(NamedTuple):
    """Two statements of which at least one is wrong."""

    rule: str
    quantity: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.quantity}: {self.text}"


def question_of(surface: str) -> str:
    """The question whose answer a surface shows."""
    return _FORM.sub("", surface)


def contradictions(kind: str, answers: Answers) -> list[Contradiction]:
    """Every contradiction among the answers about one document."""
    stated = {
        quantity: {
            surface: values
            for surface, answer in answers.items()
            if (reader := readers.get(question_of(surface))) and (values := read_values(reader, answer))
        }
        for quantity, readers in READINGS[kind].items()
    }
    return [
        *_two_values(stated),
        *_parts_above_wholes(stated),
        *_shares_out_of_range(answers),
        *_sums_above_one(kind, answers),
        *_findings_above_findings(answers),
        *_windows_without_words(kind, answers),
    ]


def contradictions_of_run_and_counters(of_run: Answers, of_counters: Answers) -> list[Contradiction]:
    """Of a folder with a run and counters of the same program: the share of a kernel in the time is that of the run."""
    shares = read_values(READINGS["run"]["kernel_share"]["kernels"], of_run.get("kernels", {}))
    found = []
    for surface, answer in of_counters.items():
        reader = READINGS["counters"]["counted_share"].get(question_of(surface))
        for (name,), share in (read_values(reader, answer) if reader else {}).items():
            before = shares.get((name,))
            if before is not None and not _is_same(before, share):
                text = f"kernels of the run {before}, {surface} of the counters {share} of {name[:60]}"
                found.append(Contradiction("two values", "kernel_share", text))
    return found


def contradictions_of_trace_and_counters(of_trace: Document, of_counters: Answers) -> list[Contradiction]:
    """Of a trace that is diagnosed with counters of its kernel: what they measured is what it says."""
    kernel = (of_trace.get("link") or {}).get("kernel_name")
    measured = read_values(READINGS["counters"]["memory_peak_share"]["l2"], of_counters.get("l2", {}))
    share = next((number for (name,), number in measured.items() if _function(name) == _function(kernel)), None)
    return [
        Contradiction(
            "two values", "memory_peak_share", f"counters {share}, diagnose of the trace {roof['name']} {roof['share']}"
        )
        for roof in of_trace.get("roofs", ())
        if share is not None and roof["name"].startswith("HBM") and not _is_same(share, roof["share"])
    ]


def _function(name: str | None) -> str:
    """The name of a kernel without what tools write behind it."""
    return (name or "").removesuffix(".kd").removesuffix(" [clone").strip()


def _shown(key: tuple[Any, ...]) -> str:
    return f" of {', '.join(str(part)[:60] for part in key)}" if key else ""


def _is_same(first: Any, second: Any) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return bool(first == second)
    return math.isclose(first, second, rel_tol=ROUNDING, abs_tol=ROUNDING)


def _two_values(stated: Mapping[str, Mapping[str, Values]]) -> Iterator[Contradiction]:
    """One definition, two values."""
    for quantity, surfaces in stated.items():
        first: dict[tuple[Any, ...], tuple[str, Any]] = {}
        for surface, values in surfaces.items():
            for key, number in values.items():
                said_by, before = first.setdefault(key, (surface, number))
                if not _is_same(before, number):
                    text = f"{said_by} {before}, {surface} {number}{_shown(key)}"
                    yield Contradiction("two values", quantity, text)


def _parts_above_wholes(stated: Mapping[str, Mapping[str, Values]]) -> Iterator[Contradiction]:
    """A part that exceeds its whole, which has the same key, or is of everything."""
    for quantity, surfaces in stated.items():
        name = QUANTITIES[quantity].part_of
        wholes = {
            key: (surface, number) for surface, values in stated.get(name, {}).items() for key, number in values.items()
        }
        for surface, values in surfaces.items():
            for key, number in values.items():
                if key not in wholes and () not in wholes:
                    continue
                said_by, whole = wholes.get(key) or wholes[()]
                if number > whole * (1 + ROUNDING) + ROUNDING:
                    text = f"{surface} {number} exceeds {name} of {said_by}, {whole}{_shown(key)}"
                    yield Contradiction("part above whole", quantity, text)


def _numbers(found: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """Every number in an answer with its path and name."""
    if isinstance(found, Mapping):
        for name, item in found.items():
            if isinstance(item, Mapping | list):
                yield from _numbers(item, path if name == "rows" and "row_count" in found else f"{path}.{name}")
            elif isinstance(item, int | float) and not isinstance(item, bool):
                yield f"{path}.{name}", name, item
    elif isinstance(found, list):
        for item in found:
            yield from _numbers(item, path)


def _shares_out_of_range(answers: Answers) -> Iterator[Contradiction]:
    """A share below 0 or above its whole."""
    for surface, answer in answers.items():
        seen = set()
        for path, name, number in _numbers(answer, question_of(surface)):
            if not (name == "share" or name.endswith("_share")) or path in ABOVE_ONE or path in seen:
                continue
            if name not in PERCENTAGES and not -ROUNDING <= number <= 1 + ROUNDING:
                seen.add(path)
                yield Contradiction("share above its whole", path, f"{surface} {number}")


def _sums_above_one(kind: str, answers: Answers) -> Iterator[Contradiction]:
    """Classes that exclude each other and add up to more than all."""
    for surface, answer in answers.items():
        for partition in PARTITIONS:
            if (partition.kind, partition.question) != (kind, question_of(surface)):
                continue
            for key, number in read_values(partition.reader, answer).items():
                if number > 1 + ROUNDING:
                    name = f"{partition.question}.{partition.path}.{partition.column}"
                    yield Contradiction("classes above 100 %", name, f"{surface} {number:.6f}{_shown(key)}")


def _findings_above_findings(answers: Answers) -> Iterator[Contradiction]:
    """A finding inside another one that promises more than it, and promises that exceed the time they are of."""
    for surface, answer in answers.items():
        if question_of(surface) != "diagnose" or "window_ns" not in answer:
            continue
        findings = answer.get("findings", ())
        outer = {finding["rule"]: finding for finding in findings}
        for finding in findings:
            within = outer.get(finding["within"])
            most = max(within["time_ns"], within["bound_ns"]) * (1 + ROUNDING) if within else math.inf
            for name in ("time_ns", "bound_ns", "bound_alone_ns"):
                if finding[name] > most:
                    text = f"{surface} {finding['rule']} {name} {finding[name]} within {finding['within']}, {most:.0f}"
                    yield Contradiction("part above whole", "finding within a finding", text)
        for kinds in _TIMES:
            inside = [finding for finding in findings if finding["kind"] in kinds and finding["rule"] not in _ACROSS]
            promised, taken = (
                sum(finding["bound_share"] for finding in inside),
                sum(answer[kinds[kind]] for kind in kinds),
            )
            if promised > taken * (1 + ROUNDING) + ROUNDING:
                text = f"{surface} findings promise {promised:.4f} of {' and '.join(kinds)}, which take {taken:.4f}"
                yield Contradiction("part above whole", "findings of a kind", text)


def _windows_without_words(kind: str, answers: Answers) -> Iterator[Contradiction]:
    """A window that is not the span of its GPU without a caveat that says so."""
    if kind != "run":
        return
    spans = read_values(READINGS["run"]["gpu_span"]["busy"], answers.get("busy", {}))
    for surface, answer in answers.items():
        if question_of(surface) != "diagnose" or not has_all_time(answer):
            continue
        for key, window in read_values(READINGS["run"]["gpu_window"]["diagnose"], answer).items():
            if key in spans and not _is_same(spans[key], window):
                text = f"{surface} window {window}, busy span {spans[key]}{_shown(key)}"
                yield Contradiction("window without a word", "gpu_window", text)
