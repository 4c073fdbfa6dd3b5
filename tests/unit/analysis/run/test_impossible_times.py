"""Times at the edge of what fits: an answer, never an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.kit.made_runs import Row, run, source
from tests.kit.sampling import every_third
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.gpu_time.overlap import overlap
from wavewright.analysis.run.kernels import kernels
from wavewright.model.answer import to_builtins
from wavewright.model.run import Run

LOW, HIGH = -(1 << 63), (1 << 63) - 1
PAIRS = [(LOW, LOW + 5), (HIGH - 5, HIGH), (0, 10), (LOW, HIGH), (HIGH, LOW), (None, 5), (5, None), (7, 7)]
EVENTS: list[Row] = [
    {"start_ns": begin, "end_ns": end, "correlation": n, "domain": "HIP", "name": "hipFree"}
    for n, (begin, end) in enumerate(PAIRS)
]


def tables(events: list[Row]) -> dict[str, Any]:
    names = {"dispatches": (), "copies": ("dst_agent",), "regions": ("domain",)}
    kept = {"start_ns", "end_ns", "correlation", "name"}
    made: dict[str, Any] = {}
    for table, more in names.items():
        rows = [{key: value for key, value in event.items() if key in kept | set(more)} for event in events]
        made[table] = [row | ({"dst_agent": 1} if table == "copies" else {}) for row in rows]
    return made


@pytest.mark.first_case
@pytest.mark.parametrize("ask", [busy, gaps, kernels, overlap, regions], ids=lambda ask: str(ask.__name__))
@pytest.mark.parametrize("count", every_third(range(len(PAIRS) + 1)))
def test_an_answer(ask: Callable[[Run], Any], count: int) -> None:
    to_builtins(ask(run(**tables(EVENTS[:count]))))
    parts = [source(f"{n}.db", pid=n, host="h", gpus=1, **tables(EVENTS[n:count])) for n in range(2)]
    to_builtins(ask(Run(parts)))
