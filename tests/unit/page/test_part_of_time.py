"""Questions about a part of the time: the same analyses, of what happened then."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.barrier_records import without_releases
from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.page.payloads import ask, part_of_time
from wavewright.page.questions import questions_about


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    folder: Path = tmp_path_factory.mktemp("gemm")
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, realtime_pairs=2, loop_trips=5)
    write_capture(synthesize(scenario), folder)
    return wavewright.open(folder)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three processes of one node, a file each, whose first events are not at the same time."""
    folder: Path = tmp_path_factory.mktemp("ranks")
    write_rocpd_ranks(folder, Workload(dispatches=150, ranks=3, seed=5))
    return wavewright.open(folder)


def document_of(opened: ThreadTrace | Run) -> Document:
    return Document(0, "", "", lambda: opened)


def costs_between(document: Document, begin: float, end: float) -> pl.DataFrame:
    payload = ask(document, "costs", {"begin": str(begin), "end": str(end)})
    return pl.read_ipc_stream(io.BytesIO(payload.content))


def test_parts_add_up_to_the_whole_on_one_clock(gemm: ThreadTrace) -> None:
    document = document_of(gemm)
    offsets = alignment(gemm).offsets
    assert len(set(offsets.values())) > 1  # else this would not see clocks that are forgotten
    middle = gemm.instructions["time_cycles"].median()
    sums = ["hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"]
    parts = [costs_between(document, -1e9, middle), costs_between(document, middle, 1e9)]
    both = pl.concat(parts).select(pl.col(sums).sum()).row(0)
    everything = row_costs(gemm).select(pl.col(sums).sum()).row(0)
    # a barrier whose arrival and release are on two sides is executed in both parts: at most one in each wave
    assert everything[0] <= both[0] <= everything[0] + gemm.waves.height
    assert both[1:] == everything[1:]
    se = gemm.instructions.join(gemm.waves.select("wave", "se"), on="wave")["se"].replace_strict(offsets)
    first = gemm.instructions.filter(gemm.instructions["time_cycles"] + se < middle)
    assert parts[0]["hit_count"].sum() == without_releases(gemm, first).height
    assert costs_between(document, -1e9, 1e9).rows() == row_costs(gemm).rows()


def dispatches(run: Run) -> pl.DataFrame:
    return run.read("dispatches", ["start_ns", "end_ns"]).drop_nulls()


@pytest.mark.slow
def test_a_part_of_a_run_counts_from_the_start_of_the_node(ranks: Run) -> None:
    document = document_of(ranks)
    overview = msgspec.json.decode(ask(document, "overview", {}).content)
    (node,) = overview["clocks"]["nodes"]
    begin, end = overview["duration_ns"] // 3, overview["duration_ns"] // 2
    start = int(node["start_ns"])
    inside = dispatches(ranks).select(
        pl.min_horizontal("end_ns", pl.lit(start + end)) - pl.max_horizontal("start_ns", pl.lit(start + begin))
    )
    expected = inside.to_series().clip(lower_bound=0).sum()
    answer = msgspec.json.decode(ask(document, "run_kernels", {"begin": str(begin), "end": str(end)}).content)
    assert expected > 0
    assert sum(row["total_ns"] for row in answer["kernels"]["rows"]) == expected
    longest = msgspec.json.decode(ask(document, "run_gaps", {"begin": str(begin), "end": str(end)}).content)
    longest = longest["largest"]["rows"]
    assert longest
    assert all(begin <= gap["begin"] <= end for gap in longest)


@pytest.mark.slow
def test_every_question_of_time_can_be_asked_about_a_part(gemm: ThreadTrace, ranks: Run) -> None:
    typed = {"run_sql": {"sql": "SELECT COUNT(*) AS n FROM kernels"}}  # what an exported page holds nothing of
    for opened, window in ((gemm, (9_000, 10_000)), (ranks, (100_000, 900_000))):
        document = document_of(opened)
        asked = [question for question in questions_about(document.kind).values() if question.is_of_time]
        assert len(asked) > 8
        for question in asked:
            given = typed.get(question.name) or next(iter(question.held(document)), {})
            texts = {name: str(value) for name, value in given.items()}
            part = ask(document, question.name, {"begin": str(window[0]), "end": str(window[1]), **texts})
            if question.name not in ("source", "run_region_domains", "run_collectives"):  # the run has no collective
                whole = ask(document, question.name, texts)
                assert part.content != whole.content, question.name


def test_what_was_looked_at_last_is_kept(gemm: ThreadTrace) -> None:
    document = document_of(gemm)
    first = part_of_time(document, 0, 9_000)
    assert part_of_time(document, 0, 9_000) is first
    for end in range(3):
        part_of_time(document, 0, 10_000 + end)
    assert part_of_time(document, 0, 9_000) is not first
    assert first.whole is document


def test_an_empty_part_and_wrong_times_are_told() -> None:
    document = document_of(small_trace(["s_nop 0"], [(0, "SALU", 0, 0, 4)]))
    with pytest.raises(UsageError, match="no traced wave ran from cycle 1,000,000,000 to 2,000,000,000"):
        ask(document, "costs", {"begin": "1000000000", "end": "2000000000"})
    with pytest.raises(UsageError, match="begin"):
        ask(document, "costs", {"begin": "20", "end": "10"})
    with pytest.raises(UsageError, match="no parameter 'begin'"):
        ask(document, "code", {"begin": "1", "end": "2"})
