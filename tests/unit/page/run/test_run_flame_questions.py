"""Flame graphs of runs: trees, functions with callers and callees, threads over time."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest

from synth import Workload, write_rocpd_ranks
from wavewright.analysis.run.calls.flame import frames_of, functions_of, sandwich
from wavewright.analysis.run.contents.regions import named_regions, regions
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.payloads import ask
from wavewright.page.run import flame
from wavewright.page.run.layers import timeline_of
from wavewright.readers.opening import open as open_path

SUMS = ("call_count", "total_ns", "self_ns", "gpu_total_ns", "gpu_ns")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = tmp_path_factory.mktemp("run")
    write_rocpd_ranks(folder, Workload(dispatches=400, ranks=2, nodes=2))
    return Document(0, "run", str(folder), lambda: open_path(folder))


def _table(document: Document, question: str, /, **given: object) -> pl.DataFrame:
    payload = ask(document, question, {name: str(value) for name, value in given.items()})
    return pl.read_ipc_stream(io.BytesIO(payload.content))


def _asked(document: Document, question: str, /, **given: object) -> dict:
    return json.loads(ask(document, question, {name: str(value) for name, value in given.items()}).content)


def _tree(rows: list[tuple[int, str, int, int]]) -> pl.DataFrame:
    """A tree of (depth, name, total, self) in depth-first order."""
    stack: list[int] = []
    nodes = []
    for node, (depth, name, total, own) in enumerate(rows):
        del stack[depth:]
        parent = stack[-1] if stack else -1
        stack.append(node)
        nodes.append((node, parent, depth, name, "HIP", 1, total, own, total, own))
    return pl.DataFrame(nodes, schema=["node", "parent", "depth", "name", "domain", *SUMS], orient="row")


TREE = _tree([
    (0, "main", 100, 10), (1, "work", 60, 20), (2, "leaf", 25, 25), (2, "work", 15, 5), (3, "leaf", 10, 10),
    (1, "leaf", 30, 30), (0, "other", 50, 45), (1, "leaf", 5, 5),
])  # fmt: skip


def test_a_function_inside_itself_counts_once() -> None:
    rows = {row["name"]: row for row in functions_of(TREE).to_dicts()}
    assert (rows["work"]["total_ns"], rows["work"]["self_ns"], rows["work"]["call_count"]) == (60, 25, 2)
    assert (rows["leaf"]["total_ns"], rows["leaf"]["self_ns"]) == (70, 70)
    assert functions_of(TREE)["name"][0] == "main"


def test_callers_and_callees_are_merged_by_path() -> None:
    leaf = sandwich(TREE, "leaf", "HIP", "host", 100)
    paths = _paths(leaf.callers)
    assert paths == {
        ("leaf",): 70, ("leaf", "work"): 35, ("leaf", "main"): 30, ("leaf", "other"): 5,
        ("leaf", "work", "main"): 25, ("leaf", "work", "work"): 10, ("leaf", "work", "work", "main"): 10,
    }  # fmt: skip
    assert _paths(leaf.callees) == {("leaf",): 70}
    work = sandwich(TREE, "work", "HIP", "host", 100)
    assert _paths(work.callees) == {
        ("work",): 60, ("work", "leaf"): 25, ("work", "work"): 15, ("work", "work", "leaf"): 10,
    }  # fmt: skip
    assert _paths(work.callers) == {("work",): 60, ("work", "main"): 60}


def _paths(frames: pl.DataFrame) -> dict[tuple[str, ...], int]:
    paths: dict[int, tuple[str, ...]] = {-1: ()}
    weights = {}
    for frame, parent, name, total in frames.select("frame", "parent", "name", "total_ns").iter_rows():
        paths[frame] = (*paths[parent], name)
        weights[paths[frame]] = total
    return weights


def test_what_is_too_small_is_one_frame_per_parent_and_nothing_is_lost() -> None:
    frames = frames_of(TREE, "host", 3)
    assert _paths(frames) == {
        ("all",): 150, ("all", "main"): 100, ("all", "other"): 50, ("all", "main", "work"): 60,
        ("all", "main", "1 smaller"): 30, ("all", "other", "1 smaller"): 5, ("all", "main", "work", "2 smaller"): 40,
    }  # fmt: skip
    assert frames.filter(pl.col("domain") == "smaller").height == 3


@pytest.mark.first_case
@pytest.mark.parametrize("weight", ["host", "gpu"])
def test_frames_are_those_of_the_call_tree(document: Document, weight: str) -> None:
    truth = regions(document.run).tree
    column = {"host": "total_ns", "gpu": "gpu_total_ns"}[weight]
    frames = _table(document, "run_flame", tree="calls", weight=weight)
    assert frames[column][0] == truth.filter(pl.col("depth") == 0)[column].sum()
    assert frames["node_count"][0] == truth.height
    assert sorted(frames[column][1:]) == sorted(truth.filter(pl.col(column) > 0)[column])
    parents = frames["parent"].cast(pl.Int64)
    assert (parents[1:] < frames["frame"][1:].cast(pl.Int64)).all()


def test_functions_and_sandwich_agree_with_named_regions(document: Document) -> None:
    rows = _asked(document, "run_functions", tree="calls")["functions"]["rows"]
    for row in rows[:5]:
        truth = named_regions(regions(document.run), f"/^{row['name']}$/")
        assert row["total_ns"] == truth.tree.filter(pl.col("depth") == 0)["total_ns"].sum()
        answer = _asked(document, "run_sandwich", tree="calls", weight="host", name=row["name"], domain=row["domain"])
        assert answer["callers"]["rows"][0]["total_ns"] == answer["callees"]["rows"][0]["total_ns"] == row["total_ns"]


def test_kernels_lie_below_their_gpu(document: Document) -> None:
    frames = _table(document, "run_flame", tree="gpus", weight="gpu")
    work = sum(document.run.read(table, ["start_ns", "end_ns"]).select((pl.col("end_ns") - pl.col("start_ns")).sum())
               .item() or 0 for table in ("dispatches", "copies"))  # fmt: skip
    assert frames["gpu_total_ns"][0] == work


def test_a_thread_over_time_has_its_longest_events(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = _asked(document, "run_lines")
    assert answer["trees"][0] == "calls"
    lines = answer["lines"]["rows"]
    assert {line["kind"] for line in lines} == {"thread", "stream"}
    shown = timeline_of(document)
    tracks = shown.tracks.filter(pl.col("kind").is_in(["thread", "stream"]))["track"]
    assert sum(line["span_count"] for line in lines) == shown.spans.filter(pl.col("track").is_in(tracks)).height
    number = lines[0]["line"]
    whole = _table(document, "run_line_stacks", line=number)
    assert whole.height == lines[0]["span_count"] == whole["span_count"][0]
    middle = (whole["first"][0] + whole["last"][0]) / 2
    part = _table(document, "run_line_stacks", line=number, low=whole["first"][0], high=middle)
    assert 0 < part.height < whole.height
    assert (part["begin"] < middle).all()
    monkeypatch.setattr(flame, "MOST_SPANS", 5)
    cut = _table(document, "run_line_stacks", line=number)
    assert (cut.height, cut["span_count"][0]) == (5, whole.height)
    lengths = (whole["end"] - whole["begin"]).sort(descending=True).head(5)
    assert sorted(cut["end"] - cut["begin"], reverse=True) == lengths.to_list()


@pytest.mark.slow
def test_a_line_has_one_number_in_every_part_of_the_time(document: Document) -> None:
    def named(**time: object) -> dict[int, tuple]:
        rows = _asked(document, "run_lines", **time)["lines"]["rows"]
        return {row["line"]: (row["kind"], row["group"], row["part"], row["label"]) for row in rows}

    whole = named()
    last = max(timeline_of(document).spans["end_ns"])
    parts = [named(begin=last * n // 20, end=last * (n + 1) // 20) for n in range(20)]
    assert all(part.items() <= whole.items() for part in parts)
    missing = next((n, line) for n, part in enumerate(parts) for line in whole if line not in part)
    assert _table(document, "run_line_stacks", line=missing[1], begin=last * missing[0] // 20,
                  end=last * (missing[0] + 1) // 20).is_empty()  # fmt: skip


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("run_flame", {"tree": "x"}),
        ("run_flame", {"weight": "x"}),
        ("run_sandwich", {"name": "x"}),
        ("run_line_stacks", {"line": 999_999}),
    ],
)
def test_what_is_not_there_is_refused(document: Document, question: str, given: dict) -> None:
    with pytest.raises(UsageError):
        _asked(document, question, **given)
