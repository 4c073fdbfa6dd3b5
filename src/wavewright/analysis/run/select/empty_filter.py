"""Filters that match nothing of a run: which option it is, and the error that names what there is instead."""

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

_SHOWN = 6
_NAME_WIDTH = 60


@dataclass(frozen=True)
class Unmatched:
    """One filter that matches nothing: its option, what it asks for, and how often what else occurs."""

    option: str
    what: str
    there: Counter[str]


def unmatched(run: Run, selection: RunSelection) -> Unmatched | None:
    """The first filter of the selection that matches nothing of the run; None = each matches something.

    What a run does not record at all (ranks, regions) is not looked for: verbs say that it is missing.
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
    for option, (what, choice, recorded) in checks.items():
        there = recorded(run) if choice else Counter[str]()
        if there and not any(map(_condition(option, choice), there)):
            present = Counter({name: count for name, count in there.items() if count})
            return Unmatched(option, f"{what} {' or '.join(map(str, choice))}", present)
    return None


def _condition(option: str, choice: Sequence[object]) -> Callable[[str], bool]:
    """True for a recorded value that the choice of an option matches."""
    texts = set(map(str, choice))
    if option == "--kernel":
        (pattern,) = map(name_pattern, texts)
        return lambda name: bool(pattern.search(name))
    if option == "--domain":
        domains = upper_domains(texts)
        return lambda name: name.upper() in domains
    return lambda value: value in texts


def unmatched_error(parts: Sequence[Unmatched], where: str = "") -> UsageError:
    """The error of runs none of which has what a filter asks for."""
    first = parts[0]
    there: Counter[str] = Counter()
    for part in parts:
        if part.option == first.option:
            there += part.there
    is_counted = first.option in ("--kernel", "--domain")
    ordered = there.most_common() if is_counted else sorted(there.items(), key=lambda item: (len(item[0]), item[0]))
    names = [f"{name[:_NAME_WIDTH]} {count:,}" if is_counted else name for name, count in ordered]
    what = f"{first.what}; this run has {some_of(names, _SHOWN)}"
    if first.option == "--kernel":
        return UsageError(
            what, where=where, advice="`wavewright top` lists the kernels; /regular expressions/ match too"
        )
    word = first.what.rsplit(" ", 1)[-1].upper()
    near = difflib.get_close_matches(word, there, n=1) or [name for name, _ in ordered[:1]]
    return UsageError(what, where=where, advice=f"{first.option} {near[0]}" if near else "")


def _gpus(run: Run) -> Counter[str]:
    """GPUs with work."""
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
