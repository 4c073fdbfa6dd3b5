"""Runs compared by their call trees: planted wrappers, fusions, other names and orders; differences add up."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.kit.graph_traces import GraphTrace
from tests.kit.made_runs import Row, source
from wavewright.analysis.run.calls.call_trees import Nodes, call_tree
from wavewright.analysis.run.compare.call_forest import call_forest
from wavewright.analysis.run.compare.compare import RunComparison, combine_compare, compare_runs
from wavewright.analysis.run.compare.compared_side import partial_compare
from wavewright.analysis.run.compare.structure import UNLINKED
from wavewright.analysis.run.compare.tree_pairs import _MOST_CELLS, NamedTree, paired
from wavewright.model.run import Run
from wavewright.readers.run.inputs import open_run
from wavewright.words.run.run_changes import comparison_report
from wavewright.writers.terminal.blocks import plain_text

Call = tuple[str, Any]  #: Name of a call with what is inside: calls, or the kernel that it launches with its time.


@dataclass
class Written:
    """Regions and dispatches of calls that are written one inside the other."""

    regions: list[Row] = field(default_factory=list)
    dispatches: list[Row] = field(default_factory=list)
    now: int = 0

    def write(self, calls: list[Call], thread: int) -> None:
        """Write calls of a thread, one after the other."""
        for name, inside in calls:
            begin, self.now = self.now, self.now + 1
            row: Row = {"thread": thread, "name": name, "domain": "MARKER" if name.startswith("step") else "OPERATOR"}
            if isinstance(inside, list):
                self.write(inside, thread)
            else:
                kernel, length, *shape = inside
                number = len(self.dispatches)
                launch = {"domain": "HIP", "name": "hipLaunchKernel", "correlation": number, "thread": thread}
                self.regions.append(launch | {"start_ns": self.now, "end_ns": self.now + 1})
                self.dispatches.append(
                    {"correlation": number, "name": kernel, "start_ns": 10**6, "end_ns": 10**6 + length}
                )
                if shape:
                    row["event_properties"] = json.dumps({"Input Dims": shape})
                self.now += 2
            self.regions.append(row | {"start_ns": begin, "end_ns": self.now})
            self.now += 1


def made(*threads: list[Call], pid: int = 1, lost: int = 0) -> Run:
    written = Written()
    for number, calls in enumerate(threads):
        written.write(calls, number)
    more: list[Row] = [{"correlation": 900 + n, "name": "early", "start_ns": 0, "end_ns": 7} for n in range(lost)]
    return Run([source(pid=pid, regions=written.regions, dispatches=[*written.dispatches, *more])])


def by_name(answer: RunComparison, *columns: str) -> dict[str, tuple[Any, ...]]:
    return {row[0]: row[1:] for row in answer.operators.select("name", *columns).rows()}


def layer(gemm: str, gemm_ns: int, *, soft_ns: int = 50) -> list[Call]:
    return [("mm", (gemm, gemm_ns)), ("softmax", ("soft", soft_ns))]


def checked(answer: RunComparison) -> RunComparison:
    """The answer, whose differences add up at every level, and to the GPU time of both sides."""
    tree = answer.tree
    below = tree.group_by(node="parent").agg(pl.col("delta_ns", "base_ns", "time_ns").sum().name.suffix("_below"))
    sums = tree.join(below, on="node", how="left").fill_null(0)
    for total, own in (("delta_ns", "own_delta_ns"), ("base_ns", "own_base_ns"), ("time_ns", "own_ns")):
        assert (sums[total] - sums[own] - sums[f"{total}_below"]).abs().max() == pytest.approx(0, abs=1e-6)
    for column, side in (("base_ns", 0), ("time_ns", 1)):
        whole = answer.sides["gpu_ns"][side]
        sums_by_table = [fsum(getattr(answer, name)[column]) for name in ("operators", "kernel_pairs")]
        assert [*sums_by_table, tree.row(0, named=True)[column]] == pytest.approx([whole] * 3)
    return answer


def test_equal_trees_pair_whole_whatever_their_kernels_are_called() -> None:
    step = lambda gemm, time: [("step 7", [("layer", layer(gemm, time)) for _ in range(6)])]  # noqa: E731
    answer = checked(compare_runs([made(step("Cijk_A", 100)), made(step("sm90_gemm", 60))]))
    assert by_name(answer, "pair_count", "base_ns", "time_ns", "status") == {
        "mm": (6, 600, 360, "faster"),
        "softmax": (6, 300, 300, "same"),
    }
    assert [(pair.base_name, pair.name) for pair in answer.renamed] == [("Cijk_A", "sm90_gemm")]
    assert dict(answer.things.filter(pl.col("domain") == "KERNEL").select("name", "status").rows()) == {
        "sm90_gemm": "renamed",
        "soft": "same",
    }
    assert answer.structure_verdict(1) == (
        "call trees: 12 places that launch GPU work are in both, with 100.0 % of the GPU time of A and 100.0 % of that "
        "of B; were each as fast as the other where it is slower, B would take at most 0.000 ms less and A would take "
        "at most 0.000 ms less"
    )


def test_a_run_against_itself_differs_nowhere() -> None:
    run = made([("step 1", layer("a", 5)), ("step 2", layer("a", 6))], [("backward", layer("b", 9))], lost=2)
    answer = checked(compare_runs([run, run]))
    assert answer.operators["delta_ns"].to_list() == [0] * answer.operators.height
    assert set(answer.operators["status"]) == {"same"}
    assert answer.structure_verdict(1) is None
    assert "by what both call" not in plain_text(comparison_report(answer), 160)


def test_a_wrapper_of_one_side_is_looked_through() -> None:
    wrapped: list[Call] = [("compiled", [("guard", [("layer", layer("a", 10))])]), ("tail", ("t", 1))]
    answer = checked(compare_runs([made([("layer", layer("a", 10)), ("tail", ("t", 1))]), made(wrapped)]))
    assert by_name(answer, "pair_count", "delta_ns") == {"mm": (1, 0), "softmax": (1, 0), "tail": (1, 0)}


def test_what_is_fused_belongs_to_the_lowest_common_ancestor() -> None:
    eager: list[Call] = [("norm", [("pow", ("p", 4)), ("mean", ("m", 5)), ("mul", ("x", 6))]), ("mm", ("g", 9))]
    fused: list[Call] = [("norm", [("rms_norm", ("fused", 7))]), ("mm", ("g", 9))]
    answer = checked(compare_runs([made(eager), made(fused)]))
    names = ("base_gpu_count", "gpu_count", "delta_ns", "base_only", "side_only")
    assert by_name(answer, *names) == {
        "norm": (3, 1, -8, "mean (1), mul (1), pow (1)", "rms_norm (1)"),
        "mm": (1, 1, 0, None, None),
    }
    assert answer.most_gains_ns == (0.0,)


def test_other_names_pair_by_place_and_kinds_of_kernels() -> None:
    first: list[Call] = [("conv", [("miopen_conv", [("solve", ("Cijk_gemm_a", 10))])])]
    second: list[Call] = [("conv", [("cudnn_conv", [("solve", ("Cijk_gemm_b", 8))])])]
    answer = checked(compare_runs([made(first), made(second)]))
    assert by_name(answer, "delta_ns") == {"solve": (-2,)}
    tree = answer.tree.filter(pl.col("base_name").is_not_null())
    assert tree.select("base_name", "name").rows() == [("miopen_conv", "cudnn_conv")]


def test_lost_and_new_calls_do_not_shift_the_others() -> None:
    calls = [("mm", (f"g{n}", 10 * (n + 1), [n, 8])) for n in range(6)]
    more = [*calls[:2], ("mm", ("new", 500, [99, 8])), *calls[2:4], *calls[5:]]
    answer = checked(compare_runs([made([("step", calls)]), made([("step", more)])]))
    assert by_name(answer, "pair_count", "base_ns", "time_ns", "other_shape_count", "base_only", "side_only") == {
        "mm": (6, 210, 660, 1, None, None),
    }
    same = answer.kernel_pairs.filter(pl.col("base_name") == pl.col("name"))
    assert same["name"].to_list() == ["g5", "g3", "g2", "g1", "g0"]
    assert answer.kernel_pairs.filter(pl.col("name") == "new")["base_name"].to_list() == ["g4"]


def test_other_shapes_are_said() -> None:
    first, second = ([("step", [("mm", ("g", 10 * rows, [rows, 8])) for _ in range(3)])] for rows in (4, 5))
    answer = checked(compare_runs([made(first), made(second)]))
    assert by_name(answer, "other_shape_count", "delta_ns") == {"mm": (3, 30)}
    assert "3 pairs of other shapes, whose times are not comparable" in plain_text(comparison_report(answer), 160)


def test_noise_is_that_of_pairs_of_one_place_and_shape() -> None:
    lengths = [100, 1000, 10_000]
    base = [("mm", ("g", length, [length])) for _ in range(8) for length in lengths]
    side = [("mm", ("g", length + length // 20, [length])) for _ in range(8) for length in lengths]
    answer = checked(compare_runs([made([("step", base)]), made([("step", side)])]))
    (row,) = answer.operators.to_dicts()
    assert (row["status"], row["change"], row["noise"]) == ("slower", pytest.approx(0.05), pytest.approx(0.01))
    (kernel,) = answer.things.filter(pl.col("domain") == "KERNEL").to_dicts()
    assert kernel["status"] == "cannot tell", "calls that are not paired say nothing"


def test_threads_pair_by_what_they_do_and_launches_without_a_call_are_apart() -> None:
    forward, backward = [("step", layer("f", 100))], [("autograd::engine::evaluate", layer("b", 900))]
    answer = checked(compare_runs([made(forward, backward, lost=3), made(backward, forward)]))
    assert by_name(answer, "pair_count", "base_ns", "time_ns") == {
        "mm": (2, 1000, 1000),
        "softmax": (2, 100, 100),
        UNLINKED: (1, 21, 0),
    }


def test_ranks_pair_by_number_else_by_order() -> None:
    def side(*ranks: int) -> list[Any]:
        return [partial_compare(made([("mm", ("g", 10 + rank))], pid=rank)) for rank in ranks]

    answer = checked(combine_compare([side(0, 1, 2, 10), side(10, 2)]))
    assert by_name(answer, "pair_count", "base_ns", "time_ns", "base_only")["mm"] == (2, 32, 32, None)
    assert by_name(answer, "base_ns", "time_ns", "base_only")["run"] == (21, 0, "rank 0 (1), rank 1 (1)")
    answer = checked(combine_compare([side(0), side(3)]))
    assert by_name(answer, "pair_count", "base_ns", "time_ns") == {"mm": (1, 10, 13)}


def test_a_replayed_graph_is_the_same_work_as_its_eager_run(tmp_path: Any) -> None:
    kernels = ["gemm", "norm", "act"]
    graph, eager = GraphTrace(), GraphTrace()
    graph.capture(kernels)
    for trace in (graph, eager):
        for _ in range(4):
            begin = trace.now
            if trace is graph:
                trace.replay(kernels)
            else:
                for kernel in kernels:
                    trace.eager(kernel)
            trace.marked("step", begin)
    runs = []
    for name, trace in (("graph", graph), ("eager", eager)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": trace.events}))
        runs.append(open_run(path))
    answer = checked(compare_runs(runs))
    assert by_name(answer, "pair_count", "base_gpu_count", "gpu_count") == {
        f"op::{name}": (4, 4, 4) for name in kernels
    }


def test_a_run_without_operators_and_markers_has_no_trees() -> None:
    run = Run(
        [source(dispatches=[{"start_ns": 0, "end_ns": 5}], regions=[{"domain": "HIP", "start_ns": 0, "end_ns": 1}])]
    )
    assert call_forest(run).nodes.height == 0
    answer = compare_runs([run, made([("mm", ("g", 10))])])
    assert (answer.operators.height, answer.structure_verdict(1)) == (0, None)


def flat(names: list[int], *, kinds: int = 0) -> NamedTree:
    """A root with nodes of these names, each with work of a kind that no other tree has."""
    size = len(names) + 1
    return NamedTree(
        name=np.array([0, *names]),
        shapes=np.full(size, -1),
        parent=np.array([-1, *[0] * (size - 1)]),
        size=np.array([size, *[1] * (size - 1)]),
        depth=np.array([0, *[1] * (size - 1)]),
        is_wrapper=np.zeros(size, dtype=np.bool_),
        category=np.array([kinds, *names]) + kinds,
        first_work=np.arange(size + 1),
    )


def test_pairs_are_as_many_as_a_plain_search_finds() -> None:
    chance = np.random.default_rng(7)
    for _ in range(40):
        left, right = (chance.integers(1, 4, size=chance.integers(1, 12)).tolist() for _ in range(2))
        best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
        for row, name in enumerate(left):
            for column, other in enumerate(right):
                longer = best[row][column] + (name == other)
                best[row + 1][column + 1] = max(longer, best[row][column + 1], best[row + 1][column])
        partner = paired(flat(left), flat(right, kinds=100))[1:]
        found = [(at, int(other) - 1) for at, other in enumerate(partner) if other >= 0]
        assert [other for _, other in found] == sorted({other for _, other in found})
        assert all(left[at] == right[other] for at, other in found)
        assert len(found) == best[-1][-1]


def test_long_lists_pair_in_bounded_time() -> None:
    count = int(_MOST_CELLS**0.5) + 10
    left, right = [1 + n % 3 for n in range(count)], [1 + (n + 1) % 3 for n in range(count)]
    partner = paired(flat(left), flat(right))[1:]
    assert (partner >= 0).all()
    assert all(left[at] == right[other - 1] for at, other in enumerate(partner.tolist()))


def test_deep_trees_are_paired() -> None:
    calls: Call = ("leaf", ("k", 5))
    for _ in range(300):
        calls = ("op", [calls])
    answer = checked(compare_runs([made([calls]), made([("op", [calls])])]))
    assert by_name(answer, "delta_ns") == {"leaf": (0,)}


def _calls_of(thread: int | None, correlation: int, process: int = 0) -> list[Row]:
    """An operator that launches a kernel."""
    of_thread = {"process": process, "thread": thread}
    return [
        {"name": "aten::mm", "domain": "OPERATOR", "start_ns": 0, "end_ns": 20} | of_thread,
        {"name": "hipLaunchKernel", "domain": "HIP", "start_ns": 1, "end_ns": 9, "correlation": correlation}
        | of_thread,
    ]


def test_operators_without_a_thread_are_below_one_of_their_own() -> None:
    """Beside a known thread the missing one was a traceback, and alone its operators were beside their process."""
    work = [{"start_ns": 20, "end_ns": 50, "correlation": number} for number in (1, 2)]
    forest = call_forest(Run([source(regions=_calls_of(None, 1) + _calls_of(0, 2), dispatches=work)]))
    names = ["rank 1", "thread 1", "aten::mm", "process", "thread 1", "aten::mm"]
    assert forest.nodes.select("name", "parent").rows() == list(zip(names, [-1, 0, 1, -1, 3, 4], strict=True))
    assert forest.work.select("node", "gpu_ns").rows() == [(2, 30), (5, 30)]


def test_regions_of_two_processes_without_threads_are_not_inside_each_other() -> None:
    """Equal times of two processes, of which no thread is recorded."""
    processes = [{"process": number, "source": 0, "node": 0, "pid": number} for number in (0, 1)]
    outer, inner = ({"thread": None, "domain": "OPERATOR"} | each for each in (
        {"name": "outer", "start_ns": 0, "end_ns": 100}, {"name": "other", "process": 1, "start_ns": 9, "end_ns": 19}
    ))  # fmt: skip
    tree = call_tree(Run([source(processes=processes, regions=[outer, inner])]), Nodes()).tree
    assert tree.select("name", "depth", "self_ns").rows() == [("other", 0, 10), ("outer", 0, 100)]
