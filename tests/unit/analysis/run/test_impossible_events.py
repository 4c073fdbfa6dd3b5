"""Events that cannot be: summary, top, ranks and compare answer all the same, and count them without time."""

from __future__ import annotations

import io
import json

import msgspec
import polars as pl
import pytest
from rich.console import Console

from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.analysis.run.contents.summary import summary
from wavewright.analysis.run.contents.timed_events import GROUPINGS
from wavewright.analysis.run.kernels.top import top
from wavewright.analysis.run.ranks.ranks import ranks
from wavewright.model.answer import Answer, to_builtins
from wavewright.model.run import MemorySource, Run
from wavewright.words.run.ranks import ranks_report
from wavewright.words.run.run_changes import comparison_report
from wavewright.words.run.summary import summary_report
from wavewright.words.run.top import top_report

FAR = (1 << 63) - 1
TIMES = [
    (-FAR, FAR),
    (FAR, -FAR),
    (0, FAR),
    (-FAR, -FAR + 5),
    (FAR - 7, FAR),
    (None, 4),
    (3, None),
    (None, None),
    (9, 9),
]


def impossible(*, sound: int = 0) -> Run:
    """Every kind of event at every impossible time; rows refer to things that do not exist."""
    times = [*TIMES, *((n, n + 10) for n in range(sound))]
    events = pl.DataFrame(
        {
            "process": [0, 7] * (len(times) // 2) + [None] * (len(times) % 2),
            "thread": [3] * len(times),
            "agent": [0, 9] * (len(times) // 2) + [None] * (len(times) % 2),
            "stream": [8] * len(times),
            "src_agent": [9] * len(times),
            "dst_agent": [None] * len(times),
            "name": ["ncclKernel", None, ""] * (len(times) // 3) + ["x\x1b[2J"] * (len(times) % 3),
            "start_ns": [begin for begin, _ in times],
            "end_ns": [end for _, end in times],
            "size_bytes": [FAR] * len(times),
            "correlation": [1] * len(times),
            "domain": ["MARKER", "HIP", None] * (len(times) // 3) + ["HIP"] * (len(times) % 3),
            "type": [None] * len(times),
            "level": ["SCRATCH", None, "REAL"] * (len(times) // 3) + [None] * (len(times) % 3),
        },
        strict=False,
    )
    tables = dict.fromkeys(("dispatches", "copies", "allocations", "regions"), events)
    tables["processes"] = pl.DataFrame({"process": [0], "source": [0], "pid": [None], "rank": [None]})
    tables["agents"] = pl.DataFrame({"agent": [0], "process": [0], "kind": ["GPU"], "type_index": [None]})
    return Run([MemorySource("impossible", "made", tables=tables)])


def check(answer: Answer) -> None:
    text = msgspec.json.encode(to_builtins(answer))
    json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} in the JSON"))
    for name, spec in answer.tables.items():
        assert dict(getattr(answer, name).schema) == spec.dtypes, name


def shown(parts: object) -> str:
    console = Console(width=140, record=True, file=io.StringIO())
    for part in parts:  # type: ignore[attr-defined]
        console.print(part)
    return console.export_text()


@pytest.mark.first_case
@pytest.mark.parametrize("sound", [0, 30])
@pytest.mark.parametrize("by", GROUPINGS)
def test_summary(by: str, sound: int) -> None:
    answer = summary(impossible(sound=sound), by=by)  # type: ignore[arg-type]
    check(answer)
    assert answer.wall_ns >= 0
    assert "\x1b[2J" not in shown(summary_report(answer, width=140))


@pytest.mark.parametrize("sound", [0, 30])
def test_top(sound: int) -> None:
    answer = top(impossible(sound=sound), with_calls=True)
    check(answer)
    assert answer.things["calls"].sum() == 4 * (len(TIMES) + sound)
    shown(top_report(answer))


@pytest.mark.parametrize("sound", [0, 30])
def test_ranks(sound: int) -> None:
    answer = ranks(impossible(sound=sound))
    check(answer)
    shown(ranks_report(answer))


@pytest.mark.parametrize("sound", [0, 30])
def test_compare(sound: int) -> None:
    answer = compare_runs([impossible(), impossible(sound=sound)])
    check(answer)
    shown(comparison_report(answer, everything=True))


def test_only_possible_times_count() -> None:
    answer = summary(impossible())
    kernels = answer.domains.filter(pl.col("domain") == "KERNEL").row(0, named=True)
    assert (kernels["calls"], kernels["total_ns"], kernels["max_ns"]) == (9, 12, 7)
    assert kernels["untimed_calls"] == 6
