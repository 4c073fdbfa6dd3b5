"""Parts of a run: what each field leaves out, what follows it, and that row numbers still fit."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_runs import CLOCKS, small_run, small_source
from wavewright import UsageError
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select
from wavewright.analysis.run.select.recording_span import recorded
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import NUMBERED, REFERENCES, RUN

EVENTS = ("dispatches", "copies", "allocations", "regions", "samples", "arguments", "counters", "frames", "monitors")


def heights(run: Run) -> dict[str, int]:
    return {name: run.read(name).height for name in EVENTS}


def chosen(**fields: object) -> Run:
    return select(small_run(), RunSelection(**fields))  # type: ignore[arg-type]


def check_numbers(run: Run) -> None:
    for name, spec in RUN.items():
        frame = run.read(name)
        if name in NUMBERED and name != "sources":
            assert frame[NUMBERED[name]].to_list() == list(range(frame.height)), name
        for column in set(spec.names) & set(REFERENCES) - {"source"} - (
            {"symbol"} if name == "counter_info" else set()
        ):
            most = frame[column].max()
            assert most is None or most < run.read(REFERENCES[column]).height, (name, column)  # type: ignore[operator]


@pytest.mark.parametrize("text", ["gemm", "/^gemm<.*>$/", "/float/"])
def test_a_kernel_and_its_counters(text: str) -> None:
    part = chosen(kernel=text)
    assert part.dispatches["name"].unique().to_list() == ["gemm<float>"]
    assert part.dispatches.height == part.counters.height == 10
    assert part.counters.join(part.dispatches, on=["process", "event"], how="semi").height == 10
    assert part.regions.height == small_run().regions.height


def test_a_text_with_special_characters_is_plain_text() -> None:
    assert chosen(kernel="copy'\"").dispatches.height == 10
    assert chosen(kernel="gemm.").dispatches.height == 0


@pytest.mark.parametrize(
    "fields", [{"ranks": (1,)}, {"pids": (41,)}, {"without_guids": ("0000ddb5-8903-7903-b269-cd8d3745bb8a",)}]
)
def test_a_process_takes_its_things_along(fields: dict[str, object]) -> None:
    part, whole = chosen(**fields), small_run()
    check_numbers(part)
    assert part.processes["rank"].to_list() == [1]
    assert {name: 2 * count for name, count in heights(part).items()} == heights(whole)
    assert part.dispatches["start_ns"].min() == CLOCKS[1] + 30
    assert part.agents.height == 3
    joined = part.dispatches.join(part.symbols, on="symbol")
    assert (joined["name"].cast(pl.String) == joined["name_right"]).all()


def test_two_rows_of_one_node_have_one_window() -> None:
    source = small_source()
    apart = select(Run([source]), RunSelection(end="50%"))
    node = source.tables["nodes"].with_columns(machine_id=pl.lit("one"))
    together = MemorySource("a.db", "ROCpd", "3", source.tables | {"nodes": node})
    part = select(Run([together]), RunSelection(end="50%"))
    assert set(apart.dispatches["process"]) == {0, 1}
    assert set(part.dispatches["process"]) == {0}
    assert part.dispatches.height == 10


def test_several_sources_stay_apart() -> None:
    both = Run([small_source("a.db"), small_source("b.db", guids=("c", "d"))])
    part = select(both, RunSelection(ranks=(1,)))
    check_numbers(part)
    assert part.processes["guid"].to_list()[1] == "d"
    assert part.dispatches.group_by("process").len()["len"].to_list() == [10, 10]


def test_a_gpu_with_its_copies() -> None:
    part = chosen(gpus=(1,))
    assert part.dispatches["agent"].unique().sort().to_list() == [2, 5]
    assert part.copies["dst_agent"].unique().sort().to_list() == [2, 5]
    assert part.allocations["type"].to_list() == ["FREE", "FREE"]
    assert part.monitors.height == 0
    assert part.counters.height == 10
    check_numbers(part)


def test_a_stream() -> None:
    part = chosen(streams=(1,))
    assert (part.dispatches.height, part.copies.height) == (10, 0)


@pytest.mark.parametrize(
    ("words", "count"),
    [(("hip",), 40), (("MARKERS",), 20), (("hip_runtime_api",), 40), (("HIP", "marker"), 60), (("RCCL",), 0)],
)
def test_domains_and_their_arguments(words: tuple[str, ...], count: int) -> None:
    part = chosen(domains=words)
    assert part.regions.height == count
    assert part.arguments.height == (20 if any(word.upper().startswith("HIP") for word in words) else 0)
    assert part.samples.height == (20 if any(word.upper().startswith("MARKER") for word in words) else 0)
    assert part.dispatches.height == 20


@pytest.mark.parametrize(
    ("begin", "end", "counts"),
    [
        ("0%", "100%", [10, 10]),
        (
            "30%",
            "60%",
            [3, 3],
        ),  # 300 to 600 ns; the dispatch at 630 to 680 lies outside, the range at 600 only touches the window
        ("300ns", "0.6us", [3, 3]),
        ("-700ns", "-400ns", [3, 3]),
        (None, "25%", [3, 3]),
        ("1300", "1600", [3, 0]),
    ],
)
def test_a_time_window_is_of_each_node(begin: str | None, end: str | None, counts: list[int]) -> None:
    part = chosen(begin=begin, end=end)
    ranges = part.regions.filter(pl.col("domain") == "MARKER")
    found = [ranges.filter(pl.col("process") == process).height for process in (0, 1)]
    assert found == counts
    whole = chosen(begin=begin, end=end, is_whole=True).regions.filter(pl.col("domain") == "MARKER")
    found = [whole.filter(pl.col("process") == process).height for process in (0, 1)]
    assert found == [count + (2 if count == 3 and begin is not None else 0) for count in counts]  # neighbours touch it


def test_events_begin_and_end_at_the_borders_of_the_window() -> None:
    part = chosen(begin="35%", end="65%")  # 350 to 650 ns
    for table in ("dispatches", "regions"):
        frame = part.read(table, ["process", "start_ns", "end_ns"])
        for process, zero in enumerate(CLOCKS):
            times = frame.filter(pl.col("process") == process)
            assert times["start_ns"].min() == zero + 350, table
            assert times["end_ns"].max() == zero + 650, table
    whole = chosen(begin="35%", end="65%", is_whole=True)
    assert whole.dispatches["start_ns"].min() == CLOCKS[0] + 330
    assert whole.processes.equals(part.processes)


def test_a_cut_leaves_impossible_lengths_impossible() -> None:
    source = small_source()
    backward = source.tables["dispatches"].with_columns(end_ns=pl.col("start_ns") - 5)
    damaged = MemorySource("a.db", "ROCpd", "3", source.tables | {"dispatches": backward})
    part = select(Run([damaged]), RunSelection(begin="35%", end="65%"))
    assert part.dispatches.height
    assert (part.dispatches["end_ns"] < part.dispatches["start_ns"]).all()


def test_a_window_beyond_the_run_ends_with_it() -> None:
    part = chosen(begin="50%", end="10s")
    assert sorted(recorded(part).select("start_ns", "end_ns").rows()) == [(zero + 500, zero + 1000) for zero in CLOCKS]


def test_a_kernel_leaves_copies_out() -> None:
    assert small_run().copies.height
    assert chosen(kernel="gemm").copies.height == 0


def test_inside_leaves_out_what_the_window_cuts() -> None:
    overlap, inside = (chosen(begin="35%", end="65%", is_inside=flag) for flag in (False, True))
    assert overlap.dispatches.height == 2 * 4
    assert inside.dispatches.height == 2 * 2
    assert inside.counters.height == inside.dispatches.height
    assert overlap.counters.height == overlap.dispatches.height
    assert overlap.samples.height == inside.samples.height == 2 * 3


def test_between_markers() -> None:
    part = chosen(between=("step 2", "step 4"))
    names = part.regions.filter(pl.col("domain") == "MARKER")["name"].to_list()
    assert names == ["step 2", "step", "step 4"] * 2
    whole = chosen(between=("step 2", "step 4"), is_whole=True)
    names = whole.regions.filter(pl.col("domain") == "MARKER")["name"].to_list()
    assert names == ["step", "step 2", "step", "step 4", "step"] * 2  # neighbours touch the window
    inside = chosen(between=("step 2", "step 4"), is_inside=True)
    assert inside.regions.filter(pl.col("domain") == "MARKER")["name"].to_list() == ["step 2", "step", "step 4"] * 2
    assert inside.dispatches.height == 6


def test_a_repeated_marker_is_said() -> None:
    part = chosen(between=("step", "step"))
    assert part.losses["kind"].to_list() == ["repeated_marker"]
    assert "10 markers are called 'step'" in part.losses["message"][0]
    assert part.dispatches.height == 18


def test_a_mark_is_a_marker_too() -> None:
    assert chosen(between=("mark 1", "mark 3")).dispatches.height == 2 * 2


def test_beyond_the_run_is_said() -> None:
    part = chosen(begin="50%", end="150%")
    assert part.losses["kind"].unique().to_list() == ["window_beyond_run"]
    assert part.dispatches.height == 10


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"begin": "half"}, "is not a time"),
        ({"begin": "1.5"}, "is not a time"),
        ({"begin": "60%", "end": "30%"}, "ends before it starts"),
        ({"between": ("stop 2", "step 4")}, "'step 2'"),
        ({"between": ("step 4", "step 2")}, "ends before"),
        ({"kernel": "/(/"}, "regular expression"),
    ],
)
def test_what_makes_no_sense(fields: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(**fields)
    assert words in str(caught.value)
    assert caught.value.advice


def test_ranks_that_are_not_known() -> None:
    source = small_source()
    source.tables["processes"] = source.tables["processes"].with_columns(pl.lit(None, pl.Int32).alias("rank"))
    with pytest.raises(UsageError, match="--pid"):
        select(Run([source]), RunSelection(ranks=(0,))).read("dispatches")


def test_only_asked_columns_come() -> None:
    part = chosen(kernel="gemm", gpus=(0,), begin="10%")
    assert part.read("dispatches", ["end_ns", "vgpr_count"]).columns == ["end_ns", "vgpr_count"]
    assert part.read("counters", ["value"]).columns == ["value"]
