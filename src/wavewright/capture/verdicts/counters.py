"""Verdicts about counters: whether every pass has every counter of every launch, and whether it counted.

Each pass is a run of its own and leaves its data in `raw/pass_N`; the reader joins them by dispatch, so that the folder
`raw` is a capture of counters that every verb opens.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from wavewright.base.words import counted, some_of
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.kinds import Counters
    from wavewright.model.counters import CounterSet

_NAMED = 6  #: Counters or kernels that a sentence names.
_KERNEL_LETTERS = 60  #: Characters of a kernel's name in a sentence.
_PASS = re.compile(r"(?:^|/)pass_(\d{1,6})(?:/|$)")
_DEVICE = re.compile(r":device=\d+$")
_REPLAN = "Fewer counters per pass may fit: name them by --pmc, some at a time."


def judge_data(recording: Counters, attempt: Path) -> Judgement:
    """Judge the counters below `attempt/raw`."""
    from wavewright.readers.counters import open_counters

    raw = attempt / "raw"
    names = tuple(dict.fromkeys(name for names in _asked_passes(recording) for name in names))
    reason = "no counters were written: no dispatch passed the filters, or the program made none."
    has_files = False
    with suppress(OSError):
        has_files = any(path.is_file() for path in raw.rglob("*") if path.suffix in (".csv", ".db", ".json"))
    if has_files:
        try:
            data = open_counters(raw)
        except (WavewrightError, OSError) as error:
            reason = f"the counters cannot be read: {error}."
            return Judgement(verdict=Verdict.FAILED, reasons=(reason,), missing=names)
        if data.dispatches.height:
            return _judged(recording, data, names)
        reason = "the files of the counters have no dispatch."
    advice = "Compare the filter with the kernels of `wavewright capture discover`."
    return Judgement(verdict=Verdict.NO_DISPATCH, reasons=(reason,), advice=advice, missing=names)


def _asked_passes(recording: Counters) -> list[list[str]]:
    """The counters of each pass as files name them: without the GPU."""
    return [[_DEVICE.sub("", name) for name in names] for names in recording.passes]


def _judged(recording: Counters, data: CounterSet, names: tuple[str, ...]) -> Judgement:
    missing = _missing(recording, data)
    silent, impossible = _silent(data, names)
    short = _short_launches(recording, data)
    present = [name for name in names if name not in missing]
    usable = [name for name in present if name not in impossible]
    size = f"{counted(len(present), 'counters')} of {counted(data.dispatches.height, 'dispatches')}"
    reasons: list[str] = []
    advice = ""
    if present and set(present) <= set(silent):
        verdict = Verdict.NOT_COUNTED
        reasons.append(f"{size}, and every value is 0: nothing was counted.")
        advice = (
            "On Radeon the clock of the counters is off unless the performance level is fixed: "
            "`amd-smi set --gpu 0 --perf-level STABLE_STD` before, AUTO after."
        )
    elif missing or short or impossible:
        verdict = Verdict.INCOMPLETE
        size = f"{counted(len(usable), 'counters')} of {counted(data.dispatches.height, 'dispatches')}"
        reasons.append(f"{size} can be used.")
    else:
        verdict = Verdict.GOOD
        reasons.append(f"{size} in {counted(data.passes.height, 'passes')}.")
    if missing:
        reasons.append(f"missing: {some_of(missing, _NAMED)}.")
        advice = advice or f"See whether the GPU has them: `rocprofv3-avail info --pmc {missing[0]}`. {_REPLAN}"
    reasons += short
    if impossible and verdict is not Verdict.NOT_COUNTED:
        reasons.append(f"0 in every dispatch, which cannot be: {some_of(impossible, _NAMED)}.")
        advice = advice or "Leave them away: this GPU does not count them, or their clock was off."
    possible = [name for name in silent if name not in impossible]
    if possible and verdict is not Verdict.NOT_COUNTED:
        reasons.append(f"0 in every dispatch, which may be true: {some_of(possible, _NAMED)}.")
    return Judgement(
        verdict=verdict, reasons=tuple(reasons), advice=advice, missing=tuple(missing), silent=tuple(silent)
    )


def _missing(recording: Counters, data: CounterSet) -> list[str]:
    """Counters that the pass which asked for them does not have."""
    by_pass: dict[int, set[str]] = {}
    numbers = {row["pass"]: _PASS.search(row["file"] or row["name"]) for row in data.passes.iter_rows(named=True)}
    everything: set[str] = set()
    for row in data.counters.iter_rows(named=True):
        spelled = {row["spelled"], row["column"], _channelled(row)}
        everything |= spelled
        folder = numbers.get(row["pass"])
        by_pass.setdefault(int(folder[1]) if folder else 0, set()).update(spelled)
    missing = []
    for number, names in enumerate(_asked_passes(recording), start=1):
        # Without folders pass_N (all keys are 0) nobody can tell which pass counted what.
        present = by_pass.get(number, set()) if any(by_pass) else everything
        missing += [name for name in names if name not in present]
    return list(dict.fromkeys(missing))


def _channelled(row: dict[str, object]) -> str:
    return f"{row['spelled']}[{row['channel']}]" if row["channel"] is not None else str(row["spelled"])


def _silent(data: CounterSet, names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Counters without any value but 0, and those of them of which that cannot be true: the reader has nulls there."""
    zero: dict[str, bool] = {}
    impossible: dict[str, bool] = {}
    for row in data.counters.iter_rows(named=True):
        column = data.measured[row["pass"]][row["column"]]
        is_nulled = column.null_count() == column.len()
        is_zero = is_nulled or not column.abs().sum()
        for name in (row["spelled"], row["column"], _channelled(row)):
            if name in names:
                zero[name] = zero.get(name, True) and is_zero
                impossible[name] = impossible.get(name, True) and is_nulled
    return [name for name, value in zero.items() if value], [name for name, value in impossible.items() if value]


def _short_launches(recording: Counters, data: CounterSet) -> list[str]:
    """Kernels of which a pass has fewer launches than were asked for, or than another pass has."""
    import polars as pl

    named = data.executions.join(data.dispatches.select("dispatch", "kernel_name", "agent"), on="dispatch")
    groups = ["pass", "kernel_name", "agent"]
    rows = named.group_by(groups, maintain_order=True).agg(pl.len().alias("count"))
    counts: dict[str, Counter[int]] = {}
    for row in rows.iter_rows(named=True):
        of_kernel = counts.setdefault(row["kernel_name"] or "", Counter())
        of_kernel[row["pass"]] = max(of_kernel[row["pass"]], row["count"])
    passes = data.passes["pass"].to_list()
    sentences = []
    for kernel, by_pass in counts.items():
        most = max(by_pass.values())
        asked = len(recording.launches) or most
        fewest = min(by_pass.get(number, 0) for number in passes)
        if fewest < asked:
            where = "" if len(set(by_pass.values())) == 1 and len(by_pass) == len(passes) else " in some passes"
            short = kernel if len(kernel) <= _KERNEL_LETTERS else f"{kernel[:_KERNEL_LETTERS]}..."
            sentences.append(f"{fewest:,} of {counted(asked, 'launches')} of {short}{where}.")
    more = [f"and {len(sentences) - _NAMED:,} more kernels."] if len(sentences) > _NAMED else []
    return [*sentences[:_NAMED], *more]
