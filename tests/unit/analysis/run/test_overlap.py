from __future__ import annotations

from dataclasses import replace
from io import StringIO
from itertools import combinations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.kit.made_runs import rows, run, source, spans
from tests.kit.sampling import examples
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.overlap import overlap
from wavewright.analysis.run.kernels import kernels
from wavewright.analysis.run.measures.pairs import fill_gaps
from wavewright.model.run import Run
from wavewright.words.run.overlap import overlap_report


def test_what_hides_what() -> None:
    found = overlap(
        run(
            dispatches=spans((0, 10), (40, 50)) + spans((5, 25), name="ncclDevKernel_Generic", stream=2),
            copies=spans((20, 30), (45, 48), dst_agent=1, stream=3),
            regions=[
                {"start_ns": b, "end_ns": e, "domain": "HIP", "name": "hipX", "thread": t}
                for b, e, t in [(2, 4, 0), (3, 8, 1), (35, 44, 0)]
            ],
        )
    )
    (gpu,) = found.gpus.to_dicts()
    assert (gpu["computation_ns"], gpu["communication_ns"], gpu["copy_ns"]) == (20, 20, 13)
    assert (gpu["exposed_communication_ns"], gpu["exposed_copy_ns"]) == (15, 5)
    assert gpu["computation_ns"] + 15 + 5 == gpu["busy_ns"] == 40
    assert (gpu["idle_ns"], gpu["copy_hidden_share"], gpu["communication_hidden_share"]) == (10, 8 / 13, 0.25)
    columns = ("first_stream_id", "second_stream_id", "first_busy_ns", "second_busy_ns", "both_ns")
    assert sorted(rows(found.streams, *columns)) == [(0, 2, 20, 20, 5), (0, 3, 20, 13, 3), (2, 3, 20, 13, 5)]
    assert rows(found.host, "pid", "call_ns", "call_hidden_ns", "gpu_busy_ns") == [(1, 15, 10, 40)]
    assert rows(found.levels, "what", "level", "length_ns") == [
        ("processes", 1, 40),
        ("streams", 1, 27),
        ("streams", 2, 13),
    ]


def test_processes_of_several_files() -> None:
    parts = [
        source("a.db", pid=1, dispatches=spans((0, 10), (20, 30))),
        source("b.db", pid=2, dispatches=spans((5, 25))),
        source("c.db", pid=3, dispatches=spans((0, 8), agent=2)),
    ]
    found = overlap(Run(parts))
    assert rows(found.processes, "gpu", "first_pid", "second_pid", "first_busy_ns", "both_ns", "both_share") == [
        (0, 1, 2, 20, 10, 0.5)
    ]
    of_processes = found.levels.filter(pl.col("what") == "processes")
    assert rows(of_processes, "level", "length_ns") == [(1, 15), (2, 12), (3, 3)]
    assert rows(found.gpus, "pid", "busy_ns", "gpu_busy_ns") == [(1, 20, 30), (2, 20, 30), (3, 8, 8)]


def test_too_many_intervals_are_bridged_and_said() -> None:
    whole = pl.DataFrame({"start_ns": range(0, 1000, 10), "end_ns": range(4, 1004, 10)})
    assert fill_gaps(whole, [], 100)[1] == 0
    assert fill_gaps(whole, [], 10)[1] == 99 * 6


PIECE = st.tuples(st.integers(0, 40), st.integers(1, 12), st.integers(0, 3), st.sampled_from("kcm"))


@settings(deadline=None, max_examples=examples(50))
@given(st.lists(PIECE, max_size=20))
def test_equals_counting_nanosecond_by_nanosecond(pieces: list[tuple[int, int, int, str]]) -> None:
    names = {"k": "gemm", "c": "rcclAllReduce"}
    found = overlap(
        run(
            dispatches=[
                {"start_ns": b, "end_ns": b + n, "stream": s, "name": names[kind]}
                for b, n, s, kind in pieces
                if kind != "m"
            ],
            copies=[
                {"start_ns": b, "end_ns": b + n, "stream": s, "src_agent": 1} for b, n, s, kind in pieces if kind == "m"
            ],
        )
    )
    at = {kind: {t for b, n, _, k in pieces if k == kind for t in range(b, b + n)} for kind in "kcm"}
    columns = ("computation_ns", "exposed_communication_ns", "exposed_copy_ns", "busy_ns")
    expected = (
        len(at["k"]),
        len(at["c"] - at["k"]),
        len(at["m"] - at["k"] - at["c"]),
        len(at["k"] | at["c"] | at["m"]),
    )
    assert rows(found.gpus, *columns) == ([expected] if pieces else [])
    of_stream = {s: {t for b, n, on, _ in pieces if on == s for t in range(b, b + n)} for _, _, s, _ in pieces}
    both = {(a, b): len(of_stream[a] & of_stream[b]) for a, b in combinations(sorted(of_stream), 2)}
    assert {(a, b): n for a, b, n in rows(found.streams, "first_stream_id", "second_stream_id", "both_ns")} == both


def test_the_report_fits_80_columns_where_a_file_stands_for_the_node() -> None:
    answer = overlap(run(dispatches=spans((0, 10)) + spans((5, 25), name="ncclDevKernel_Generic", stream=2)))
    path = pl.lit("/scratch/somebody/project/experiments/traces/a-very-long-name-of-a-folder/trace.json").alias("node")
    answer = replace(answer, gpus=answer.gpus.with_columns(path), levels=answer.levels.with_columns(path))
    console = Console(width=80, file=StringIO())
    for part in overlap_report(answer, width=80):
        console.print(part)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "2 streams" in text
    assert "…" not in text


def test_ranks_with_one_pid_are_several_processes() -> None:
    """Ranks in containers of one node share its GPU, its name, and the pid 1."""
    who = {"process": 0, "source": 0, "node": 0, "pid": 1}
    times = ((0, 100), (50, 150), (120, 160))
    parts = [
        source(f"{rank}.db", processes=[who | {"rank": rank}], dispatches=spans(time))
        for rank, time in enumerate(times)
    ]
    found = overlap(Run(parts))
    columns = ("first_pid", "second_pid", "first_busy_ns", "second_busy_ns", "both_ns")
    assert rows(found.processes, *columns) == [(1, 1, 100, 100, 50), (1, 1, 100, 40, 0), (1, 1, 100, 40, 30)]
    of_processes = found.levels.filter(pl.col("what") == "processes")
    assert rows(of_processes, "level", "length_ns") == [(1, 80), (2, 80)]
    assert rows(busy(Run(parts)).gpus, "process_count", "busy_ns") == [(3, 160)]
    assert rows(kernels(Run(parts)).kernels, "process_count", "stream_count", "gpu_count") == [(3, 3, 1)]
