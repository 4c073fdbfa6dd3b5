from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_runs import Row, rows, run, source, spans
from tests.kit.sampling import examples
from wavewright.analysis.run.contents.regions import folded_layers, named_regions, regions
from wavewright.analysis.run.steps import steps
from wavewright.model.run import Run


def region(begin: int, end: int | None, name: str, thread: int = 0, correlation: int | None = None) -> Row:
    return {
        "start_ns": begin,
        "end_ns": end,
        "name": name,
        "thread": thread,
        "domain": "MARKER",
        "correlation": correlation,
    }


def test_inclusive_exclusive_and_gpu_time() -> None:
    made = run(
        regions=[
            region(0, 100, "step"),
            region(10, 30, "launch", correlation=1),
            region(40, 60, "launch", correlation=2),
            region(100, 150, "step"),
            region(0, 40, "launch", thread=1),
            region(5, None, "never ends"),
        ],
        dispatches=spans((20, 70), correlation=1) + spans((70, 75), correlation=1) + spans((80, 90), correlation=9),
        copies=spans((50, 58), correlation=2, dst_agent=1),
    )
    found = regions(made)
    columns = (
        "path",
        "parent",
        "call_count",
        "total_ns",
        "self_ns",
        "min_ns",
        "max_ns",
        "gpu_count",
        "gpu_ns",
        "gpu_total_ns",
    )
    assert rows(found.tree, *columns) == [
        ("step", -1, 2, 150, 110, 50, 100, 0, 0, 63),
        ("step/launch", 0, 2, 40, 40, 20, 20, 3, 63, 63),
        ("launch", -1, 1, 40, 40, 40, 40, 0, 0, 0),
    ]
    assert (found.region_count, found.thread_count, found.unlinked_gpu_ns, found.untimed_count) == (5, 2, 10, 1)


def test_a_region_is_as_long_on_the_gpu_as_what_it_launched_took_there() -> None:
    made = run(
        regions=[
            region(0, 100, "step"),
            of_domain(region(10, 30, "launch", correlation=1), "HIP"),
            of_domain(region(40, 60, "launch", correlation=2), "HIP"),
            region(100, 150, "step"),  # the host runs ahead: what it launches begins after it
            of_domain(region(110, 120, "launch", correlation=3), "HIP"),
        ],
        dispatches=spans((20, 70), correlation=1) + spans((160, 190), correlation=2) + spans((200, 240), correlation=3),
    )
    found = regions(made)
    on_gpu = [("step", 150, 120, (190 - 20) + (240 - 200)), ("step/launch", 50, 120, 50 + 30 + 40)]
    assert rows(found.tree, "path", "total_ns", "gpu_total_ns", "gpu_length_ns") == on_gpu
    assert steps(made, "step").steps["gpu_length_ns"].to_list() == [190 - 20, 240 - 200]
    assert named_regions(found, "launch").tree["gpu_length_ns"].to_list() == [120]


def test_files_are_merged_by_path() -> None:
    parts = [
        source("a.db", pid=1, regions=[region(0, 10, "a"), region(2, 4, "b"), region(5, 6, "c")]),
        source("b.db", pid=2, regions=[region(0, 7, "a"), region(1, 2, "b"), region(7, 9, "b")]),
    ]
    found = regions(Run(parts))
    assert rows(found.tree, "path", "call_count", "total_ns", "self_ns") == [
        ("a", 2, 17, 13),
        ("a/b", 2, 3, 3),
        ("a/c", 1, 1, 1),
        ("b", 1, 2, 2),
    ]
    assert found.process_count == 2


def test_numbers_in_names_are_folded() -> None:
    many = [region(10 * n, 10 * n + 5, f"iteration {n}") for n in range(40)]
    few = source(
        "b.db", pid=2, regions=[region(0, 5, "iteration 3"), region(10, 12, "layer 1"), region(12, 14, "layer 2")]
    )
    found = regions(Run([source("a.db", regions=many), few]))
    assert rows(found.tree, "name", "call_count") == [("iteration *", 41), ("layer 1", 1), ("layer 2", 1)]


def test_lines_and_modules_keep_their_numbers_and_addresses_do_not() -> None:
    names = [f"model.py({n}): forward" for n in range(40)] + [f"nn.Module: Layer_{n}" for n in range(40)]
    names += ["<method t of Tensor object at 0x7f40aa00>", "<method t of Tensor object at 0x7f40bb00>"]
    names += ["ProfilerStep#9", "ProfilerStep#10"]
    found = regions(run(regions=[region(10 * n, 10 * n + 5, name) for n, name in enumerate(names)]))
    folded_names = {"<method t of Tensor object at 0x*>": 2, "ProfilerStep#*": 2}
    assert dict(rows(found.tree, "name", "call_count")) == dict.fromkeys(names[:80], 1) | folded_names


def of_domain(row: Row, domain: str) -> Row:
    return row | {"domain": domain}


def model() -> Run:
    """Two layers in a step, launched through operators; a thread that waits; a launch without operator."""
    return run(
        regions=[
            of_domain(region(0, 100, "train.py(3): main"), "PYTHON"),
            of_domain(region(10, 50, "nn.Module: Layer_0"), "PYTHON"),
            of_domain(region(12, 48, "model.py(7): forward"), "PYTHON"),
            of_domain(region(14, 30, "aten::linear"), "OPERATOR"),
            of_domain(region(16, 28, "aten::mm"), "OPERATOR"),
            of_domain(region(18, 20, "hipLaunchKernel", correlation=1), "HIP"),
            of_domain(region(50, 80, "nn.Module: Layer_1"), "PYTHON"),
            of_domain(region(52, 60, "aten::mm"), "OPERATOR"),
            of_domain(region(54, 56, "hipLaunchKernel", correlation=2), "HIP"),
            of_domain(region(90, 92, "hipLaunchKernel", correlation=3), "HIP"),
            of_domain(region(0, 500, "threading.py(359): wait", thread=1), "PYTHON"),
        ],
        dispatches=spans((20, 30), correlation=1) + spans((60, 90), correlation=2) + spans((95, 100), correlation=3),
    )


def test_what_launched_gpu_work() -> None:
    found = regions(model())
    assert rows(found.launchers, "name", "call_count", "gpu_count", "gpu_ns") == [
        ("aten::mm", 2, 2, 40),
        ("train.py(3): main", 1, 1, 5),
    ]
    assert found.launchers["gpu_share"].sum() == 1
    assert rows(found.domains, "domain", "region_count") == [("PYTHON", 5), ("HIP", 3), ("OPERATOR", 3)]


def test_siblings_are_sorted_as_asked() -> None:
    roots = [row["name"] for row in regions(model()).tree.filter(pl.col("depth") == 0).to_dicts()]
    assert roots == ["train.py(3): main", "threading.py(359): wait"]
    by_cpu = regions(model(), sort="cpu").tree
    assert by_cpu["name"][0] == "threading.py(359): wait"
    layers = by_cpu.filter(pl.col("depth") == 1)["name"].to_list()
    assert layers == ["nn.Module: Layer_0", "nn.Module: Layer_1", "hipLaunchKernel"]


def test_layers_have_the_work_that_was_launched_in_them() -> None:
    found = regions(model(), layers=True)
    columns = ("path", "call_count", "total_ns", "gpu_total_ns", "gpu_total_count")
    assert rows(found.tree, *columns) == [("nn.Module: Layer_1", 1, 30, 30, 1), ("nn.Module: Layer_0", 1, 40, 10, 1)]
    assert found.unlinked_gpu_ns == 5
    whole = folded_layers(regions(model()))
    layer = whole.tree.filter(pl.col("name") == "nn.Module: Layer_*")
    assert rows(layer, "call_count", "total_ns", "gpu_total_ns") == [(2, 70, 40)]
    assert whole.tree["gpu_ns"].sum() == 45


def test_regions_chosen_by_name_are_roots() -> None:
    found = named_regions(regions(model()), "aten")
    columns = ("path", "call_count", "total_ns", "gpu_total_ns")
    assert rows(found.tree, *columns) == [
        ("aten::mm", 1, 8, 30),
        ("aten::mm/hipLaunchKernel", 1, 2, 30),
        ("aten::linear", 1, 16, 10),
        ("aten::linear/aten::mm", 1, 12, 10),
        ("aten::linear/aten::mm/hipLaunchKernel", 1, 2, 10),
    ]
    assert rows(found.callers, "name", "caller", "gpu_total_ns") == [
        ("aten::mm", "nn.Module: Layer_1", 30),
        ("aten::linear", "model.py(7): forward", 10),
    ]
    assert found.unlinked_gpu_ns == 5
    assert named_regions(regions(model()), "/^aten::(mm)$/").tree["gpu_ns"].sum() == 40
    assert named_regions(regions(model()), "nothing").tree.is_empty()


def test_crossing_regions_stand_beside_each_other() -> None:
    found = regions(run(regions=[region(0, 100, "a"), region(10, 30, "b"), region(20, 50, "c")]))
    assert rows(found.tree, "path", "self_ns", "crossing_count") == [("a", 60, 0), ("a/c", 30, 1), ("a/b", 20, 0)]
    assert found.crossing_count == 1


def test_domains_keep_the_gpu_time_of_calls_inside() -> None:
    hip = region(12, 14, "hipLaunchKernel", correlation=1) | {"domain": "HIP", "category": "HIP_RUNTIME_API"}
    made = run(regions=[region(0, 50, "step"), region(10, 30, "layer"), hip], dispatches=spans((20, 27), correlation=1))
    columns = ("path", "total_ns", "self_ns", "gpu_ns", "gpu_total_ns")
    assert rows(regions(made, domains=("marker",)).tree, *columns) == [
        ("step", 50, 30, 0, 7),
        ("step/layer", 20, 20, 7, 7),
    ]
    assert rows(regions(made, domains=("HIP_runtime_api",)).tree, *columns) == [("hipLaunchKernel", 2, 2, 7, 7)]


def plain(calls: list[tuple[int, int, str]]) -> dict[tuple[str, ...], list[int]]:
    """Calls, inclusive and exclusive time per path, of calls of one thread that nest."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for begin, end, name in calls:
        around = [c for c in calls if c[0] <= begin and c[1] >= end and c != (begin, end, name)]
        path = (*(c[2] for c in sorted(around, key=lambda c: c[0] - c[1])), name)
        inside = {
            t for b, e, n in calls if begin <= b and e <= end and (b, e, n) != (begin, end, name) for t in range(b, e)
        }
        sums = found[path]
        sums[0], sums[1], sums[2] = sums[0] + 1, sums[1] + end - begin, sums[2] + end - begin - len(inside)
    return found


@st.composite
def nested(draw: Any) -> list[tuple[int, int, str]]:
    """Regions that nest properly: a random walk that opens and closes them, with a step of time at each."""
    steps = draw(st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.sampled_from("abc")), max_size=30))
    time, waiting, done = 0, [], []
    for opens, pause, name in [*steps, *[(False, 1, "a")] * len(steps)]:
        time += pause
        if opens:
            waiting.append((time, name))
        elif waiting:
            begin, called = waiting.pop()
            done.append((begin, time, called))
    return done


@settings(deadline=None, max_examples=examples(60))
@given(nested(), st.randoms())
def test_equals_a_plain_tree(calls: list[tuple[int, int, str]], random: Any) -> None:
    shuffled = list(calls)
    random.shuffle(shuffled)
    found = regions(run(regions=[region(*call) for call in shuffled]))
    tree = found.tree.with_columns(pl.col("path").str.split("/"))
    sums = {
        tuple(path): [count, total, own]
        for path, count, total, own in rows(tree, "path", "call_count", "total_ns", "self_ns")
    }
    assert sums == plain(calls)
    assert found.crossing_count == 0
