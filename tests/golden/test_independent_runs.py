"""The numbers of the verbs about runs, computed a second time by loops that know nothing of wavewright."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from synth import Workload, write_rpd
from tests.cli.in_process import call
from tests.conftest import SHARED
from tests.golden import plain_runs as plain
from tests.golden.plain_runs import Event, Key, PlainRun
from tests.kit.sampling import every_third

DATA = SHARED / "data"
GENERATOR = SHARED / "tools" / "gen_rocpd.py"
GENERATED = {
    "nodes": ["--ranks", "3", "--nodes", "2", "--gpus", "2"],
    "same-pid": ["--ranks", "2", "--nodes", "2", "--same-pid"],
    "one-file": ["--ranks", "2", "--one-file"],
    "3.0.3": ["--schema", "3.0.3", "--threads", "3"],
}
RPD = {"rpd-2": 2, "rpd-3": 3}
PATTERNS = (
    "att-mi300x-bmm/*/raw/*_results.db",
    "rpd/*.rpd*",
    "rocprofv3-mi350x-flydsl/*/discover_kernel_trace.csv*",
    "gfx1151-rocprofv3-llama/decode_*_trace.csv",
    "rocprofv3-json-mi350x/*.json.gz",
    "kineto-amd/*.json.gz",
    "kineto-multirank-2of4/*.json.gz",
)
REAL = {str(path.relative_to(DATA)): path for pattern in PATTERNS for path in sorted(DATA.glob(pattern))}
FEW = (
    "att-mi300x-bmm/c01/raw/28_results.db",
    "att-mi300x-bmm/c09/raw/37_results.db",
    "rpd/matmul_result.rpd",
    "rpd/mytrace.rpd.gz",
    "rocprofv3-mi350x-flydsl/fused_rope_cache/discover_kernel_trace.csv.gz",
    "gfx1151-rocprofv3-llama/decode_kernel_trace.csv",
    "gfx1151-rocprofv3-llama/decode_hip_api_trace.csv",
    "rocprofv3-json-mi350x/908_first8000_results.json.gz",
    "kineto-amd/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz",
)
"""One or two of each kind: what takes long is asked of these only."""
NUMBERS = ("mean_ns", "median_ns", "p95_ns", "p99_ns", "stddev_ns")
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not here")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    base = tmp_path_factory.mktemp("runs")
    for name, options in GENERATED.items():
        command: list[str | Path] = [
            sys.executable,
            GENERATOR,
            "-o",
            base / name,
            "--dispatches",
            "400",
            "--pmc",
            "2",
            *options,
        ]
        subprocess.run(command, check=True, capture_output=True)
    for name, schema in RPD.items():
        (base / name).mkdir()
        write_rpd(base / name / "run.rpd", Workload(dispatches=400, ranks=3, gpus=2), schema=schema)
    return {name: sorted((base / name).iterdir()) for name in (*GENERATED, *RPD)}


@pytest.fixture
def paths(request: pytest.FixtureRequest, made: dict[str, list[Path]]) -> list[Path]:
    name: str = request.param
    return made.get(name) or [REAL[name]]


BIG = [pytest.param(name, marks=pytest.mark.slow) for name in REAL if "multirank" in name]
OTHERS = every_third(name for name in REAL if "multirank" not in name)
EVERY = pytest.mark.parametrize("paths", [*OTHERS, *BIG, *GENERATED, *RPD], indirect=True)
ONE_OF_EACH = pytest.mark.parametrize("paths", every_third([*FEW, *GENERATED, *RPD]), indirect=True)
WITH_PLACES = pytest.mark.parametrize("paths", every_third([*FEW[:4], *GENERATED, *RPD]), indirect=True)


def ask(verb: str, paths: list[Path], *options: object) -> dict[str, Any]:
    done = call(verb, *paths, "--json", "--top", 0, *(() if verb == "compare" else ("--jobs", 1)), *options)
    assert done.status == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@cache
def read(*paths: Path) -> PlainRun:
    return plain.read(*paths)


def same(ours: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if name in NUMBERS and value is not None:
            near = 1e-9 if ours.get("is_exact", True) or name in ("mean_ns", "stddev_ns") else 0.002
            assert ours[name] == pytest.approx(value, rel=near, abs=1e-6), (name, ours)
        else:
            assert ours[name] == value, (name, ours)


@pytest.mark.first_case
@EVERY
def test_summary(paths: list[Path]) -> None:
    run, answer = read(*paths), ask("summary", paths)
    found = {(row["domain"], row["name"]): row for row in answer["things"]["rows"]}
    groups = plain.grouped(run.events, lambda event: (event.domain, event.name))
    domains = plain.grouped(run.events, lambda event: (event.domain,))
    assert found.keys() == groups.keys()
    for key, durations in groups.items():
        same(found[key], plain.statistics_of(durations))
        total = sum(domains[key[:1]])
        assert found[key]["share"] == (pytest.approx(sum(durations) / total, rel=1e-12) if total else None)
    for row in answer["domains"]["rows"]:
        same(row, plain.statistics_of(domains[(row["domain"],)]))


def grouped_rows(answer: dict[str, Any], columns: tuple[str, ...]) -> list[Key]:
    """Groups as the sorted rows of their things, whatever the groups are called."""
    groups: dict[Key, list[Key]] = defaultdict(list)
    for row in answer["things"]["rows"]:
        what = (row["domain"], row["name"], row["calls"], row["total_ns"], row["min_ns"], row["max_ns"])
        groups[tuple(row[name] for name in columns)].append(what)
    return sorted(tuple(sorted(rows)) for rows in groups.values())


def expected_rows(events: list[Event], key: Any) -> list[Key]:
    groups: dict[Key, list[Event]] = defaultdict(list)
    for event in events:
        groups[key(event)].append(event)
    return sorted(
        tuple(
            sorted(
                (*what, len(found), sum(found), min(found), max(found))
                for what, found in plain.grouped(group, lambda event: (event.domain, event.name)).items()
            )
        )
        for group in groups.values()
    )


@pytest.mark.slow
@WITH_PLACES
def test_summary_by_place(paths: list[Path]) -> None:
    run = read(*paths)
    by_process = ask("summary", paths, "--by", "process")
    columns = ("host", "pid", "rank", "run")
    assert grouped_rows(by_process, columns) == expected_rows(run.events, lambda event: event.process)
    by_gpu = ask("summary", paths, "--by", "gpu")
    assert grouped_rows(by_gpu, ("host", "gpu")) == expected_rows(run.work, lambda event: event.gpus[-1])
    by_stream = ask("summary", paths, "--by", "stream")
    streamed = expected_rows(run.work, lambda event: (event.process, event.stream))
    assert grouped_rows(by_stream, (*columns, "stream")) == streamed
    by_rank = ask("summary", paths, "--by", "rank")
    assert grouped_rows(by_rank, ("rank",)) == expected_rows(run.events, lambda event: (event.rank,))


@pytest.mark.some_cases(2)
@ONE_OF_EACH
def test_top(paths: list[Path]) -> None:
    run, answer = read(*paths), ask("top", paths)
    groups = plain.grouped(run.work, lambda event: (event.domain, event.name))
    total = sum(event.duration for event in run.work)
    assert answer["total_ns"] == total
    rows = answer["things"]["rows"]
    assert [row["total_ns"] for row in rows] == sorted(map(sum, groups.values()), reverse=True)
    for row in rows:
        durations = groups.pop((row["domain"], row["name"]))
        assert (row["calls"], row["total_ns"]) == (len(durations), sum(durations))
        assert row["share"] == pytest.approx(sum(durations) / total, rel=1e-12)
    assert not groups


@pytest.mark.first_case
@ONE_OF_EACH
def test_busy_gaps_and_overlap(paths: list[Path]) -> None:
    run = read(*paths)
    spans = plain.spans(run)
    busy, gaps, overlap = [], [], []
    for events in plain.by_gpu(run).values():
        begin, end = spans[events[0].node]
        pieces = plain.merged(plain.times(events))
        ran = plain.length(pieces)
        kernels = [event for event in events if event.domain == "KERNEL"]
        copies = plain.times(event for event in events if event.domain == "COPY")
        numbers = (len(kernels), len(copies), end - begin, ran, plain.length(plain.times(kernels)))
        busy.append((*numbers, plain.length(copies), sum(event.duration for event in events)))
        waits = [after[0] - before[1] for before, after in pairwise(pieces)]
        rounded = waits.count(1)
        waits = [wait for wait in waits if wait > 1]
        gaps.append((len(waits), sum(waits), max(waits, default=0), rounded))
        for process in {event.process for event in events}:
            own = [event for event in events if event.process == process]
            moved = plain.times(event for event in own if event.domain == "COPY")
            computed = plain.length(plain.times(event for event in own if event.domain == "KERNEL"))
            alone = plain.length(plain.times(own))
            overlap.append((end - begin, plain.length(moved), alone - computed, alone))
    columns = ("kernel_count", "copy_count", "span_ns", "busy_ns", "kernel_busy_ns", "copy_busy_ns", "duration_sum_ns")
    assert rows_of(ask("busy", paths)["gpus"], columns) == sorted(busy, key=repr)
    idle = ask("gaps", paths)
    assert rows_of(idle["gpus"], ("gap_count", "gap_ns", "gap_max_ns", "rounding_ns")) == sorted(gaps, key=repr)
    assert sum(row["wait_ns"] for row in idle["causes"]["rows"]) == sum(gap for _, gap, *_ in gaps)
    assert sum(row["gap_count"] for row in idle["histogram"]["rows"]) == sum(count for count, *_ in gaps)
    exposed = rows_of(ask("overlap", paths)["gpus"], ("span_ns", "copy_ns", "exposed_copy_ns", "busy_ns"))
    assert exposed == sorted(overlap, key=repr)


def rows_of(table: dict[str, Any], columns: tuple[str, ...]) -> list[Key]:
    return sorted((tuple(row[name] for name in columns) for row in table["rows"]), key=repr)


@pytest.mark.first_case
@ONE_OF_EACH
def test_regions(paths: list[Path]) -> None:
    run, answer = read(*paths), ask("regions", paths)
    expected = plain.nested(run)
    rows = answer["tree"]["rows"]
    assert (answer["region_count"], answer["crossing_count"]) == (len(run.calls), expected.crossings)
    assert sum(row["total_ns"] for row in rows) == expected.inclusive.total()
    if expected.crossings:
        return  # what lies below what is then a matter of taste
    assert sum(row["self_ns"] for row in rows) == expected.exclusive.total()
    if any("#" in row["name"] for row in rows):
        return  # names that differ in numbers are one
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for column in ("call_count", "total_ns", "self_ns"):
            found[column][row["name"]] += row[column]
    assert found["call_count"] == expected.calls
    assert found["total_ns"] == expected.inclusive
    assert found["self_ns"] == expected.exclusive


@pytest.mark.some_cases(2)
@WITH_PLACES
def test_gpu_time_of_regions(paths: list[Path]) -> None:
    run, answer = read(*paths), ask("regions", paths)
    callers = {event.launch: event.name for event in run.calls}
    expected: Counter[str] = Counter()
    for event in run.work:
        expected[callers.get(event.launch, "")] += event.duration
    assert answer["unlinked_gpu_ns"] == expected.pop("", 0)
    if not any("#" in row["name"] for row in answer["tree"]["rows"]):
        found: Counter[str] = Counter()
        for row in answer["tree"]["rows"]:
            found[row["name"]] += row["gpu_ns"]
        assert +found == +expected


SHAPE = ("workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z", "lds_bytes", "scratch_bytes")
REGISTERS = ("vgpr_count", "accum_vgpr_count", "sgpr_count")


@pytest.mark.some_cases(2)
@ONE_OF_EACH
def test_kernels(paths: list[Path]) -> None:
    run, answer = read(*paths), json.loads(call("kernels", "", *paths, "--json", "--top", 0, "--jobs", 1).stdout)
    kernels = run.of("KERNEL")
    groups = plain.grouped(kernels, lambda event: (event.name,))
    rows = answer["kernels"]["rows"]
    assert {row["name"] for row in rows} == {name for (name,) in groups}
    for row in rows:
        same(row, plain.statistics_of(groups[(row["name"],)]))
    if all(event.shape for event in kernels):
        shapes = plain.grouped(kernels, lambda event: (event.name, *event.shape))
        columns = ("name", *SHAPE, *REGISTERS, "calls", "total_ns")
        expected = sorted((*key, len(found), sum(found)) for key, found in shapes.items())
        assert rows_of(answer["shapes"], columns) == sorted(expected, key=repr)


def covered(events: Iterable[plain.Event]) -> int:
    """Time in which any of them runs: collectives of several streams overlap."""
    return sum(end - begin for begin, end in plain.merged((event.begin, event.end) for event in events))


@pytest.mark.first_case
@WITH_PLACES
def test_ranks(paths: list[Path]) -> None:
    run, answer = read(*paths), ask("ranks", paths)
    expected = []
    for process in {event.process for event in run.work}:
        own = [event for event in run.work if event.process == process]
        is_collective = ["nccl" in event.name.lower() for event in own]
        kernels = [(event, told) for event, told in zip(own, is_collective, strict=True) if event.domain == "KERNEL"]
        compute = sum(event.duration for event, told in kernels if not told)
        collective = covered(event for event, told in kernels if told)
        copies = sum(event.duration for event in own if event.domain == "COPY")
        expected.append((own[0].rank, compute, collective, copies, len({gpu for event in own for gpu in event.gpus})))
    columns = ("rank", "compute_ns", "collective_ns", "copy_ns", "gpu_count")
    assert rows_of(answer["processes"], columns) == sorted(expected, key=repr)
    computes = [row[1] for row in expected]
    if len(computes) > 1:
        assert answer["imbalance"] == pytest.approx(max(computes) * len(computes) / sum(computes), rel=1e-12)
        assert answer["cost_ns"] == pytest.approx(max(computes) - sum(computes) / len(computes), abs=1e-3)


PAIRS = [
    ("att-mi300x-bmm/c08/raw/45_results.db", "att-mi300x-bmm/c09/raw/37_results.db"),
    ("rocprofv3-mi350x-flydsl/layernorm/discover_kernel_trace.csv",
     "rocprofv3-mi350x-flydsl/rmsnorm/discover_kernel_trace.csv"),
    ("rpd/matmul_result.rpd", "rpd/mytrace.rpd.gz"),
]  # fmt: skip


@pytest.mark.first_case
@pytest.mark.parametrize("names", PAIRS, ids=lambda names: names[0])
def test_compare(names: tuple[str, str]) -> None:
    answer = ask("compare", [REAL[name] for name in names], "--all")
    base, other = (plain.grouped(read(REAL[name]).events, lambda event: (event.domain, event.name)) for name in names)
    rows = {(row["domain"], row["name"]): row for row in answer["things"]["rows"]}
    earlier = {key: (key[0], row["base_name"] or key[1]) for key, row in rows.items()}  # of renamed kernels
    assert rows.keys() | {*earlier.values()} == base.keys() | other.keys()
    for key, row in rows.items():
        before, after = base.get(earlier[key], []), other.get(key, [])
        assert (row["base_calls"], row["calls"]) == (len(before), len(after))
        assert row["delta_ns"] == pytest.approx(sum(after) - sum(before), abs=1e-3)
        assert row["work_ns"] + row["speed_ns"] == pytest.approx(row["delta_ns"], abs=1e-3)
        if before and after:
            speed = sum(after) - len(after) * sum(before) / len(before)
            assert row["speed_ns"] == pytest.approx(speed, rel=1e-9, abs=1e-3)


@pytest.mark.first_case
@pytest.mark.parametrize("is_inside", [False, True])
@WITH_PLACES
def test_windows(paths: list[Path], is_inside: bool) -> None:
    """Percent are of what one file recorded on one node; what the window cuts is kept, or with --inside not."""
    expected: Counter[Key] = Counter()
    for path in paths:
        run = read(path)
        for node, (begin, end) in plain.extents(run).items():
            first, last = (begin + (end - begin) * percent // 100 for percent in (30, 60))
            for event in run.events:
                is_cut = event.begin <= last and event.end >= first
                is_whole = event.begin >= first and event.end <= last
                if event.node == node and (is_whole if is_inside else is_cut):
                    expected[event.domain, event.name] += 1
    options = ["--percent", "30:60", *(["--inside"] if is_inside else [])]
    answer = ask("summary", paths, *options)
    assert {(row["domain"], row["name"]): row["calls"] for row in answer["things"]["rows"]} == expected


@pytest.mark.first_case
@WITH_PLACES
def test_window_writes_what_it_shows(paths: list[Path], tmp_path: Path) -> None:
    window = ("--percent", "30:60")
    assert call("window", *paths, *window, "-o", tmp_path / "part.db").status == 0
    written = plain.grouped(plain.read(tmp_path / "part.db").events, lambda event: (event.domain, event.name))
    shown = {(row["domain"], row["name"]): row for row in ask("summary", paths, *window)["things"]["rows"]}
    assert written.keys() == shown.keys()
    for key, durations in written.items():
        assert len(durations) == shown[key]["calls"]
        assert sum(durations) >= shown[key]["total_ns"]  # files keep the events whole that the window cuts


@pytest.mark.first_case
@WITH_PLACES
def test_merged_files_hold_the_same(paths: list[Path], tmp_path: Path) -> None:
    assert call("merge", *paths, "-o", tmp_path / "merged.db").status == 0
    merged = plain.read(tmp_path / "merged.db")

    def what(run: PlainRun) -> Counter[Key]:
        return Counter((event.domain, event.name, event.begin, event.end) for event in run.events)

    assert what(merged) == what(read(*paths))
    assert len(merged.marks) == len(read(*paths).marks)
