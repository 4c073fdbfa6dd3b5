"""The error for a filter (`--kernel`, `--rank`, ...) that matches nothing of a run: it names what the run has."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.choice_rules import name_pattern, upper_domains
from wavewright.analysis.run.select.gpus import used_gpu_numbers
from wavewright.base.words import some_of
from wavewright.errors import UsageError
from wavewright.model.run import Run

_VALUES_SHOWN = 6  #: Values of the run that the error names, at most.
_NAME_CHARACTERS_MAX = 60  #: Characters of a name in the error.


@dataclass(frozen=True)
class Unmatched:
    """A filter that matches nothing of a run."""

    option: str  #: For example `--rank`.
    problem: str  #: For example "no rank 7 or 9".
    recorded: Counter[str]  #: Value that the run has -> how many events have it.


def unmatched(run: Run, selection: RunSelection) -> Unmatched | None:
    """The first filter of the selection that matches nothing of the run; None = each matches something.

    A filter of something that the run does not record at all, such as ranks, is no mismatch: verbs say that it is
    missing.
    """
    kernels = () if selection.kernel is None else (selection.kernel,)
    checks: dict[str, tuple[str, Sequence[object], Callable[[Run], Counter[str]]]] = {
        "--pid": ("no process", selection.pids, partial(_tally, table="processes", column="pid")),
        "--rank": ("no rank", selection.ranks, partial(_tally, table="processes", column="rank")),
        "--gpu": ("no GPU", selection.gpus, _gpus),
        "--stream": ("no stream", selection.streams, partial(_tally, table="streams", column="stream_id")),
        "--kernel": ("no kernel matches", kernels, partial(_tally, table="dispatches", column="name")),
        "--domain": ("no region of the domain", selection.domains, _domains),
    }
    for option, (problem, choice, count_values) in checks.items():
        values = count_values(run) if choice else Counter[str]()
        if values and not any(map(_condition(option, choice), values)):
            recorded = Counter({value: count for value, count in values.items() if count})
            return Unmatched(option, f"{problem} {' or '.join(map(str, choice))}", recorded)
    return None


def _condition(option: str, choice: Sequence[object]) -> Callable[[str], bool]:
    """A function that is true for a recorded value that the arguments of an option match."""
    texts = set(map(str, choice))
    if option == "--kernel":
        (pattern,) = map(name_pattern, texts)
        return lambda name: bool(pattern.search(name))
    if option == "--domain":
        domains = upper_domains(texts)
        return lambda name: name.upper() in domains
    return lambda value: value in texts


def unmatched_error(parts: Sequence[Unmatched], where: str = "") -> UsageError:
    """The error for several runs, none of which a filter matches: with the values of all of them."""
    first = parts[0]
    recorded: Counter[str] = Counter()
    for part in parts:
        if part.option == first.option:
            recorded += part.recorded
    is_counted = first.option in ("--kernel", "--domain")
    # Numbers sort by their value: shorter ones first.
    in_order = recorded.most_common() if is_counted else sorted(recorded.items(), key=lambda item: (len(item[0]), item))
    values = [f"{value[:_NAME_CHARACTERS_MAX]} {count:,}" if is_counted else value for value, count in in_order]
    problem = f"{first.problem}; this run has {some_of(values, _VALUES_SHOWN)}"
    if first.option == "--kernel":
        advice = "`wavewright top` lists the kernels; /regular expressions/ match too"
        return UsageError(problem, where=where, advice=advice)
    word = first.problem.rsplit(" ", 1)[-1].upper()
    similar = difflib.get_close_matches(word, recorded, n=1) or [value for value, _ in in_order[:1]]
    return UsageError(problem, where=where, advice=f"{first.option} {similar[0]}" if similar else "")


def _gpus(run: Run) -> Counter[str]:
    """The number of each GPU with work, and how many agents have it."""
    return Counter(map(str, used_gpu_numbers(run)))


def _domains(run: Run) -> Counter[str]:
    """Regions and samples by domain; categories, which can be asked for too, count 0 unless they are domains."""
    counts = _tally(run, "regions", "domain") + _tally(run, "samples", "domain")
    for table in ("regions", "samples"):
        for category in _tally(run, table, "category"):
            counts.setdefault(category, 0)
    return counts


def _tally(run: Run, table: str, column: str) -> Counter[str]:
    """How often each value of a column occurs, as text."""
    counts: Counter[str] = Counter()
    for piece in run.chunks(table, [column]):
        values = piece.select(pl.col(column).cast(pl.String)).drop_nulls()
        counts.update(dict(values.group_by(column).len().iter_rows()))
    return counts
