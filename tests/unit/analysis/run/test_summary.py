"""`summary` and `top`: calls and times by name, process, GPU, stream and marker.

`small_run` (tests/kit/small_runs.py) has two processes, pid 40 of rank 0 on host h0 and pid 41 of rank 1 on host h1.
Each runs for 1,000 ns and has
- 10 kernels of 50 ns: gemm<float> on GPU 0 and stream 0, copy'"kernel on GPU 1 and stream 1, in turn,
- 10 copies of 20 ns and 4,096 bytes to GPUs 0 and 1 in turn, all on stream 0,
- 10 marker ranges of 100 ns: "step 0", "step", "step 2", "step", ..., each around one kernel, one copy and their calls,
- one allocation and one release of 1 ns.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from synth import Workload, write_rocpd_ranks
from tests.kit.small_runs import small_run, small_source
from wavewright.analysis.run.contents.summary import Summary, combine_summary, partial_summary, summary
from wavewright.analysis.run.contents.timed_events import GROUPINGS, Grouping
from wavewright.analysis.run.kernels.top import Top, combine_top, partial_top, top
from wavewright.model.answer import to_builtins
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run


def rows_of_domain(answer: Summary, domain: str, *columns: str) -> list[tuple[Any, ...]]:
    return answer.things.filter(pl.col("domain") == domain).select(columns).rows()


def test_totals_by_domain_and_name() -> None:
    answer = summary(small_run())
    assert answer.domains.select("domain", "name_count", "calls", "total_ns").rows()[:4] == [
        ("KERNEL", 2, 20, 1000),
        ("COPY", 1, 20, 400),
        ("ALLOCATION", 2, 4, 4),
        ("MARKER", 6, 20, 2000),
    ]
    assert rows_of_domain(answer, "COPY", "name", "calls", "total_ns", "mean_ns", "bytes_total") == [
        ("MEMORY_COPY_HOST_TO_DEVICE", 20, 400, 20.0, 20 * 4096)
    ]
    assert rows_of_domain(answer, "ALLOCATION", "name", "calls") == [("ALLOC REAL", 2), ("FREE REAL", 2)]
    assert (answer.gpu_ns, answer.wall_ns, answer.gpu_count) == (1400, 1000, 4)
    assert answer.domains["share"].to_list()[:3] == [1000 / 1400, 400 / 1400, None]


def test_figures_of_a_domain_are_those_of_its_calls() -> None:
    """AMD's domain summary adds up the means and deviations of the names; ours are computed from all calls."""
    lengths = {"a": [10, 20, 30], "b": [1000], "c": [5, 7]}
    rows = [
        {"process": 0, "name": name, "start_ns": 0, "end_ns": length} for name in lengths for length in lengths[name]
    ]
    source = MemorySource("made", "made", tables={"dispatches": pl.DataFrame(rows)})
    domain = summary(Run([source])).domains.row(0, named=True)
    all_lengths = pl.Series([length for name in lengths for length in lengths[name]])
    assert (domain["calls"], domain["mean_ns"], domain["median_ns"]) == (6, all_lengths.mean(), all_lengths.median())
    assert domain["stddev_ns"] == pytest.approx(all_lengths.std())


def test_equal_pids_in_files_of_two_nodes(tmp_path: Path) -> None:
    run = write_rocpd_ranks(tmp_path, Workload(dispatches=400, ranks=4, nodes=2, same_pids=True))
    kernels = summary(open_run(tmp_path), by="process").domains.filter(pl.col("domain") == "KERNEL")
    assert kernels["pid"].n_unique() < 4
    expected = sorted(sum(sums.total_ns for sums in rank.kernels.values()) for rank in run.ranks)
    assert sorted(kernels["total_ns"]) == expected


def test_by_process() -> None:
    answer = summary(small_run(), by="process")
    assert rows_of_domain(answer, "KERNEL", "host", "pid", "rank", "name", "calls", "share") == [
        ("h0", 40, 0, "copy'\"kernel", 5, 0.5),
        ("h0", 40, 0, "gemm<float>", 5, 0.5),
        ("h1", 41, 1, "copy'\"kernel", 5, 0.5),
        ("h1", 41, 1, "gemm<float>", 5, 0.5),
    ]


def test_by_gpu() -> None:
    answer = summary(small_run(), by="gpu")
    assert answer.domains.select("host", "gpu", "domain", "calls").rows() == [
        (host, gpu, domain, 5) for host in ("h0", "h1") for gpu in (0, 1) for domain in ("KERNEL", "COPY")
    ]


def test_copies_from_a_gpu_belong_to_it() -> None:
    source = small_source()
    source.tables["copies"] = source.tables["copies"].with_columns(src_agent="dst_agent", dst_agent="src_agent")
    answer = summary(Run([source]), by="gpu")
    assert answer.domains["gpu"].null_count() == 0


def test_by_stream() -> None:
    answer = summary(small_run(), by="stream")
    domains = answer.domains.select("pid", "stream", "domain", "calls").rows()
    assert domains[:3] == [(40, 0, "KERNEL", 5), (40, 0, "COPY", 10), (40, 1, "KERNEL", 5)]


def test_by_marker() -> None:
    answer = summary(small_run(), by="marker")
    kernels_by_marker = dict(answer.domains.filter(pl.col("domain") == "KERNEL").select("marker", "calls").rows())
    assert kernels_by_marker == {"step": 10} | {f"step {number}": 2 for number in (0, 2, 4, 6, 8)}


def test_marker_ranges_are_the_groups() -> None:
    assert "MARKER" not in summary(small_run(), by="marker").domains["domain"]


def marker_of_launch_at(launch_ns: int, *ranges: tuple[str, int, int], thread: int = 0) -> str | None:
    """The marker that a kernel counts for, when `thread` launches it at a time; it runs at 1,000 ns.

    The ranges (name, start, end) are of thread 0.
    """
    regions = [
        {"process": 0, "thread": 0, "domain": "MARKER", "name": name, "start_ns": start, "end_ns": end}
        for name, start, end in ranges
    ]
    regions.append(
        {
            "process": 0,
            "thread": thread,
            "domain": "HIP",
            "name": "launch",
            "start_ns": launch_ns,
            "end_ns": launch_ns + 1,
            "correlation": 7,
        }
    )
    kernel = {"process": 0, "thread": 0, "name": "k", "start_ns": 1000, "end_ns": 1001, "correlation": 7}
    tables = {"regions": pl.DataFrame(regions), "dispatches": pl.DataFrame([kernel])}
    answer = summary(Run([MemorySource("made", "made", tables=tables)]), by="marker")
    return answer.things.filter(pl.col("domain") == "KERNEL")["marker"].item()


def test_the_innermost_marker_at_the_launch_counts() -> None:
    ranges = [("outer", 0, 100), ("inner", 10, 20), ("innermost", 10, 12), ("later", 30, 40)]
    assert marker_of_launch_at(5, *ranges) == "outer"
    assert marker_of_launch_at(10, *ranges) == "innermost"
    assert marker_of_launch_at(15, *ranges) == "inner"
    assert marker_of_launch_at(20, *ranges) == "outer"
    assert marker_of_launch_at(35, *ranges) == "later"
    assert marker_of_launch_at(100, *ranges) is None
    assert marker_of_launch_at(15, *ranges, thread=1) is None


def test_ranges_that_are_not_nested() -> None:
    ranges = [("first", 0, 10), ("second", 5, 15)]
    assert marker_of_launch_at(7, *ranges) == "second"
    assert marker_of_launch_at(12, *ranges) == "second"


def test_equal_pids_on_two_hosts_stay_apart() -> None:
    source = small_source()
    source.tables["processes"] = source.tables["processes"].with_columns(pid=pl.lit(1, pl.Int64))
    answer = summary(Run([source]), by="process")
    assert answer.domains.filter(pl.col("domain") == "KERNEL").select("host", "pid", "calls").rows() == [
        ("h0", 1, 10),
        ("h1", 1, 10),
    ]
    assert answer.processes.height == 2


def test_files_without_ids_stay_apart() -> None:
    tables = {
        "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [1]}),
        "dispatches": pl.DataFrame({"process": [0], "name": ["k"], "start_ns": [0], "end_ns": [1]}),
    }
    sources = [MemorySource(path, "made", tables=tables) for path in ("a", "b")]
    answer = summary(Run(sources), by="process")
    assert answer.things.select("run", "calls").rows() == [("a", 1), ("b", 1)]


@pytest.mark.first_case
@pytest.mark.parametrize("by", GROUPINGS)
def test_the_order_of_parts_does_not_change_a_byte(by: Grouping) -> None:
    sources = [small_source(f"{n}.db", guids=(f"g{n}", f"h{n}")) for n in range(3)]
    parts = [partial_summary(Run([source]), by=by) for source in sources]
    answers = [combine_summary(order, by=by) for order in permutations(parts)]
    assert len({msgspec.json.encode(to_builtins(answer)) for answer in answers}) == 1
    for name, spec in Summary.tables.items():
        assert dict(getattr(answers[0], name).schema) == spec.dtypes


@pytest.mark.parametrize("by", GROUPINGS)
def test_a_run_without_events_has_empty_tables(by: Grouping) -> None:
    for answer in (summary(Run([]), by=by), summary(Run([MemorySource("empty", "made")]), by=by)):
        assert answer.things.height == 0
        assert answer.wall_ns == 0
        for name, spec in Summary.tables.items():
            assert dict(getattr(answer, name).schema) == spec.dtypes


def test_calls_that_end_before_they_start_count_without_time() -> None:
    source = small_source()
    source.tables["dispatches"] = source.tables["dispatches"].with_columns(
        end_ns=pl.when(pl.int_range(pl.len()) == 0).then(0).otherwise("end_ns")
    )
    answer = summary(Run([source]))
    kernels = answer.domains.filter(pl.col("domain") == "KERNEL")
    assert kernels.select("calls", "untimed_calls", "total_ns", "mean_ns").row(0) == (20, 1, 950, 50.0)


def test_top_lists_kernels_and_copies_by_their_time() -> None:
    answer = top(small_run())
    assert answer.things.select("domain", "name", "calls", "total_ns", "mean_ns").rows() == [
        ("KERNEL", "copy'\"kernel", 10, 500, 50.0),
        ("KERNEL", "gemm<float>", 10, 500, 50.0),
        ("COPY", "MEMORY_COPY_HOST_TO_DEVICE", 20, 400, 20.0),
    ]
    assert answer.total_ns == 1400
    assert answer.things["share"].sum() == pytest.approx(1.0)
    assert dict(answer.things.schema) == Top.tables["things"].dtypes


def test_top_with_calls_counts_all_domains() -> None:
    answer = top(small_run(), with_calls=True)
    assert set(answer.things["domain"]) == {"KERNEL", "COPY", "ALLOCATION", "HIP", "MARKER"}
    parts = [partial_top(small_run(), with_calls=True)] * 2
    assert combine_top(parts).total_ns == 2 * answer.total_ns
