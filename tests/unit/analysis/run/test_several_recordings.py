"""Files that hold several runs one after the other: time between them is nobody's idle time, in every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.kit.made_runs import run, spans
from tests.unit.readers.run.test_rocprofv3_csv import KERNEL, kernel
from wavewright.analysis.run.contents.summary import summary
from wavewright.analysis.run.diagnose import diagnose_run
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.graph.event_graph import event_graph
from wavewright.analysis.run.graph.path import path_of
from wavewright.model.run import Run
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

HOUR, MS, US = 3_600 * 10**9, 10**6, 1_000


def _work(begin: int, count: int, first: int = 1) -> str:
    """Kernels of 90 us, 10 us after each other: 90 % busy."""
    times = ((first + n, begin + n * 100 * US) for n in range(count))
    return "".join(kernel(n, begin=at, end=at + 90 * US) for n, at in times)


def _opened(folder: Path, *parts: str) -> Run:
    (folder / "all_kernel_trace.csv").write_text(KERNEL + "".join(parts))
    return open_run(folder)


def _idle_shares(trace: Run) -> dict[str, float]:
    """The share of the time in which the GPU idles, as every answer tells it."""
    of_gaps, of_busy = gaps(trace).gpus.row(0, named=True), busy(trace).gpus.row(0, named=True)
    of_summary = summary(trace)
    assert of_summary.busy_share is not None
    return {
        "diagnose": diagnose_run(trace).idle_share,
        "gaps": of_gaps["gap_share"],
        "busy": 1 - of_busy["busy_share"],
        "summary": 1 - of_summary.busy_share,
    }


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(
    "parts",
    [
        (_work(HOUR, 50), _work(11 * HOUR, 40), _work(29 * HOUR, 60)),  # numbered anew: other processes
        (_work(HOUR, 50), _work(HOUR + 20 * MS, 40), _work(HOUR + 60 * MS, 60)),
        (_work(29 * HOUR, 60), _work(11 * HOUR, 40), _work(HOUR, 50)),  # the clock of a later boot
        (_work(HOUR, 50), _work(11 * HOUR, 40, 51), _work(29 * HOUR, 60, 91)),  # hours without any record
    ],
    ids=["processes", "soon", "boots", "pauses"],
)
def test_time_between_runs_in_one_file_is_nobodys(tmp_path: Path, parts: tuple[str, ...]) -> None:
    trace = _opened(tmp_path, *parts)
    idle = 1 - 150 * 90 / (150 * 100 - 3 * 10)
    assert _idle_shares(trace) == pytest.approx(dict.fromkeys(("diagnose", "gaps", "busy", "summary"), idle), abs=1e-6)
    answer = diagnose_run(trace)
    assert not answer.findings
    assert {caveat.rule for caveat in answer.caveats} >= {"D6"}
    assert answer.window_ns == 150 * 100 * US - 3 * 10 * US
    assert trace.losses.select("kind", "count").rows() == [("several_recordings", 3)]
    assert len(event_graph(trace).groups) == 3
    assert path_of(event_graph(trace)).groups["span_ns"].max() == 60 * 100 * US - 10 * US


def test_a_run_ends_at_a_pause_where_dispatches_have_no_numbers(tmp_path: Path) -> None:
    """Tools that trim the columns leave the rule of pauses: the same file gives the same answer with and without."""
    text = KERNEL + _work(HOUR, 50) + _work(11 * HOUR, 40, 51) + _work(29 * HOUR, 60, 91)
    rows = [line.split(",") for line in text.splitlines()]
    place = rows[0].index('"Dispatch_Id"')
    trimmed = ["".join(f"{cell}," for at, cell in enumerate(row) if at != place)[:-1] for row in rows]
    (tmp_path / "all_kernel_trace.csv").write_text("\n".join(trimmed) + "\n")
    trace = open_run(tmp_path)
    assert trace.losses.select("kind", "count").rows() == [("several_recordings", 3)]
    assert busy(trace).gpus["span_ns"].to_list() == [150 * 100 * US - 3 * 10 * US]


def test_a_run_that_idles_is_one_run(tmp_path: Path) -> None:
    """The planted twin: seconds between the kernels of one process are idle time, and the first finding."""
    trace = _opened(tmp_path, _work(HOUR, 50), _work(HOUR + 10 * 10**9, 40, 51), _work(HOUR + 28 * 10**9, 60, 91))
    shares = _idle_shares(trace)
    assert min(shares.values()) > 0.99
    assert diagnose_run(trace).findings[0].rule == "G1"
    assert not trace.losses.height


def test_numbers_that_do_not_count_end_no_recording(tmp_path: Path) -> None:
    """Some tools number every dispatch alike, and no process starts within microseconds of another's end."""
    times = (HOUR + n * 100 * US for n in range(50))
    trace = _opened(tmp_path, *(kernel(1, begin=at, end=at + 90 * US) for at in times))
    assert not trace.losses.height
    assert trace.processes.height == 1


def test_runs_at_the_same_time_are_one_recording(tmp_path: Path) -> None:
    """Two ranks in one file, numbered alike: the GPU idles between their work."""
    later = _work(HOUR + 50 * US, 50) + _work(HOUR + 25 * MS, 50, 51)
    trace = _opened(tmp_path, _work(HOUR, 50) + _work(HOUR + 20 * MS, 50, 51), later)
    assert not trace.losses.height
    assert trace.processes.height == 1


def test_processes_that_follow_each_other_in_one_database_are_recordings(tmp_path: Path) -> None:
    def events(process: int, begin: int) -> list[dict[str, Any]]:
        return [
            each | {"process": process} for each in spans((begin, begin + 90 * MS), (begin + 95 * MS, begin + 99 * MS))
        ]

    processes = [{"process": n, "source": 0, "node": 0, "pid": 7 + n} for n in range(2)]
    apart = run(processes=processes, dispatches=events(0, 0) + events(1, HOUR))
    assert list(_idle_shares(apart).values()) == pytest.approx([10 / 198] * 4)
    together = run(processes=processes, dispatches=events(0, 0) + events(1, HOUR) + spans((HOUR - MS, HOUR)))
    assert min(_idle_shares(together).values()) > 0.99  # the first of them is still there
