"""Chrome traces: what is where, what follows from launches, and texts that try to break out."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.kit.made_rpd import ROWS, write_rpd_file
from wavewright import _core
from wavewright.errors import UsageError
from wavewright.export.run.chrome import write_chrome
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = 'a"b\\c\n\t\x1b[31m</script>\u2028é'


def _events(path: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    events: list[dict[str, Any]] = json.loads(content)["traceEvents"]
    return events


def _exact(path: Path) -> list[tuple[str, int, int]]:
    """Name, start and end of all slices in nanoseconds of the clock, from times that were read as doubles."""
    content = json.loads(path.read_bytes())
    base = content["baseTimeNanoseconds"]
    slices = [event for event in content["traceEvents"] if event["ph"] == "X"]
    starts = [base + round(event["ts"] * 1000) for event in slices]
    ends = [start + round(event["dur"] * 1000) for start, event in zip(starts, slices, strict=True)]
    return list(zip((event["name"] for event in slices), starts, ends, strict=True))


def _run(**tables: list[dict[str, Any]]) -> Run:
    """One process with a thread on one GPU, not of an RPD file."""
    places: dict[str, list[dict[str, Any]]] = {
        "nodes": [{"node": 0, "hostname": "host"}],
        "processes": [{"process": 0, "source": 0, "node": 0, "pid": 7, "rank": 3, "command": "/bin/app --fast"}],
        "threads": [{"thread": 0, "process": 0, "tid": 70}],
        "agents": [
            {"agent": 0, "process": 0, "agent_id": 9, "kind": "CPU", "absolute_index": 0},
            {"agent": 1, "process": 0, "agent_id": 10, "kind": "GPU", "absolute_index": 1, "target": "gfx942"},
        ],
        "queues": [{"queue": 0, "process": 0, "queue_id": 4}],
        "streams": [{"stream": 0, "process": 0, "stream_id": 2}],
    }
    frames = {name: pl.DataFrame(rows) for name, rows in (places | tables).items()}
    return Run([MemorySource("run.db", "ROCpd", tables=frames)])


def _kernel(name: str, begin: int, end: int, correlation: int | None = None) -> dict[str, Any]:
    place = {"process": 0, "agent": 1, "queue": 0, "stream": 0}
    return place | {"name": name, "start_ns": begin, "end_ns": end, "correlation": correlation, "event": begin}


def _copy(name: str, begin: int, size: int) -> dict[str, Any]:
    to, other = ("dst_agent", "src_agent") if name.endswith("DEVICE") else ("src_agent", "dst_agent")
    row = {"process": 0, "name": name, "start_ns": begin, "end_ns": begin + 9, "correlation": 1, "size_bytes": size}
    return row | {to: 1, other: 0}


def _call(
    name: str, begin: int, end: int, correlation: int | None = None, domain: str | None = "HIP"
) -> dict[str, Any]:
    place = {"process": 0, "thread": 0, "category": "HIP_RUNTIME_API", "domain": domain, "event": begin}
    return place | {"name": name, "function": name, "start_ns": begin, "end_ns": end, "correlation": correlation}


def test_work_calls_and_the_arrow_between_them(tmp_path: Path) -> None:
    run = _run(dispatches=[_kernel("gemm", 5_000, 6_001, 1)], regions=[_call("hipLaunchKernel", 1_000, 4_500, 1)])
    written = write_chrome(run, tmp_path / "trace.json")
    events = _events(written.path)
    work, call = (event for event in events if event["ph"] == "X")
    assert (work["name"], work["pid"], work["tid"], work["ts"], work["dur"]) == ("gemm", 1, 4, 5, 1.001)
    assert (call["name"], call["pid"], call["tid"], call["ts"], call["dur"]) == ("hipLaunchKernel", 7, 70, 1, 3.5)
    start, finish = (event for event in events if event["ph"] in "sf")
    assert (start["pid"], start["tid"], start["ts"], start["id"]) == (7, 70, 2.5, finish["id"])
    assert (finish["pid"], finish["tid"], finish["ts"], finish["bp"]) == (1, 4, 5, "e")
    assert written.counts == {"slices": 2, "flows": 1, "points": 6}


def test_places_have_names(tmp_path: Path) -> None:
    run = _run(dispatches=[_kernel("gemm", 5_000, 6_000)])
    named = [event for event in _events(write_chrome(run, tmp_path / "trace.json").path) if event["ph"] == "M"]
    names = {(event["pid"], event.get("tid")): event["args"]["name"] for event in named if "name" in event["args"]}
    assert names == {
        (1, None): "GPU1 gfx942",
        (7, None): "app (rank 3, pid 7)",
        (7, 70): "Thread 70",
        (1, 4): "queue 4",
    }


def test_queue_depth_and_idling(tmp_path: Path) -> None:
    """Two launches whose work overlaps, then a pause, then a third."""
    dispatches = [_kernel("a", 20_000, 40_000, 1), _kernel("b", 40_000, 50_000, 2), _kernel("c", 90_000, 95_000, 3)]
    regions = [
        _call("launch", 10_000, 11_000, 1),
        _call("launch", 12_000, 13_000, 2),
        _call("launch", 80_000, 81_000, 3),
    ]
    events = _events(write_chrome(_run(dispatches=dispatches, regions=regions), tmp_path / "trace.json").path)
    depth = [(event["ts"], event["args"]["depth"]) for event in events if event["name"] == "QueueDepth"]
    idle = [(event["ts"], event["args"]["idle"]) for event in events if event["name"] == "Idle"]
    assert depth == [(10, 1), (12, 2), (40, 1), (50, 0), (80, 1), (95, 0), (95, 0)]
    assert idle == [(10, 0), (50, 1), (80, 0), (95, 1), (95, 1)]


def test_markers_are_painted_over_the_work_they_launched(tmp_path: Path) -> None:
    dispatches = [
        _kernel("a", 20_000, 30_000, 1),
        _kernel("b", 31_000, 40_000, 2),
        _kernel("c", 900_000, 910_000, 3),
        _kernel("d", 911_000, 920_000, 4),
    ]
    regions = [_call("launch", 2_000 * n, 2_000 * n + 100, n) for n in (1, 2, 3, 4)]
    regions += [
        _call("outer", 1_000, 100_000, domain="MARKER"),
        _call("inner", 1_000, 7_000, domain="MARKER"),
    ]
    events = _events(write_chrome(_run(dispatches=dispatches, regions=regions), tmp_path / "trace.json").path)
    frames = [
        (event["name"], event["ts"], event["dur"], event["args"]["desc"].split(": ")[1])
        for event in events
        if event["ph"] == "X" and event["pid"] == 1 and event["cat"] == "gpu_user_annotation"
    ]
    assert frames == [("inner", 19, 21, "2 ops"), ("inner", 899, 11, "1 ops"), ("outer", 910, 10, "1 ops")]


@pytest.mark.parametrize("name", [HOSTILE, "", "x" * 100_000, "\x00\x7f"])
def test_any_text_stays_a_text(tmp_path: Path, name: str) -> None:
    run = _run(dispatches=[_kernel(name, 1, 2)], regions=[_call(name, 1, 2, domain="MARKER")])
    events = _events(write_chrome(run, tmp_path / "trace.json").path)
    assert {event["name"] for event in events if event["ph"] == "X"} == {name}


def test_texts_that_are_no_unicode_are_replaced() -> None:
    assert json.loads(_core.json_texts(["ok"])[0]) == "ok"
    blocks: list[bytes] = []
    trace = _core.ChromeTrace(blocks.append)
    trace.events(['{"ph":"M"}'])
    trace.finish()
    assert json.loads(b"".join(blocks)) == {"traceEvents": [{"ph": "M"}]}


def test_times_keep_their_nanoseconds(tmp_path: Path) -> None:
    times = [(-1_001, -1), (0, 999), (8_306_017_670_485_923, 8_306_017_825_375_030), (2**63 - 1_000, 2**63 - 1)]
    run = _run(dispatches=[_kernel("k", begin, end) for begin, end in times])
    content = write_chrome(run, tmp_path / "trace.json").path.read_text()
    base = json.loads(content)["baseTimeNanoseconds"]
    events = json.loads(content, parse_float=Decimal)["traceEvents"]
    exact = [(1000 * event["ts"] + base, 1000 * event["dur"]) for event in events if event["ph"] == "X"]
    assert exact == [(begin, end - begin) for begin, end in times]


def test_times_that_nothing_can_be_taken_from_stay(tmp_path: Path) -> None:
    times = [(-(2**63), 5), (10**15, 10**15 + 1)]
    run = _run(dispatches=[_kernel("k", begin, end) for begin, end in times])
    content = json.loads(write_chrome(run, tmp_path / "trace.json").path.read_text(), parse_float=Decimal)
    assert content["baseTimeNanoseconds"] == 0
    assert [1000 * event["ts"] for event in content["traceEvents"] if event["ph"] == "X"] == [t for t, _ in times]


def test_doubles_hold_the_times_of_an_epoch_clock(tmp_path: Path) -> None:
    """Nanoseconds since 1970 have 19 digits, of which a double has 15: relative to the base none is lost."""
    begin = 1_753_652_182_127_176_383
    times = [(begin + n * 333_333_337, begin + n * 333_333_337 + 7 * n + 1) for n in range(200)]
    run = _run(dispatches=[_kernel(f"k{n}", *both) for n, both in enumerate(times)])
    path = write_chrome(run, tmp_path / "trace.json").path
    assert _exact(path) == [(f"k{n}", *both) for n, both in enumerate(times)]
    again = open_run(path).dispatches
    assert again.select("start_ns", "end_ns").rows() == times


def test_ranges_nest_after_reading_as_doubles_as_they_did(tmp_path: Path) -> None:
    """A chain of ranges, each a nanosecond inside of the one before."""
    begin = 1_753_652_182_127_176_383
    chain = [(begin + n, begin + 10_000 - n) for n in range(500)]
    run = _run(regions=[_call(f"r{n}", *both, domain="MARKER") for n, both in enumerate(chain)])
    rows = _exact(write_chrome(run, tmp_path / "trace.json").path)
    assert all(a[1] < b[1] and b[2] < a[2] for a, b in pairwise(rows))


def test_categories_are_those_that_others_filter_by(tmp_path: Path) -> None:
    domains = ("HIP", "OPERATOR", "MARKER", "PYTHON", "RCCL", None)
    run = _run(
        dispatches=[_kernel("gemm", 5_000, 6_001, 1), _kernel("Memset (Device)", 7_000, 7_001, 2)],
        copies=[_copy("MEMORY_COPY_HOST_TO_DEVICE", 8_000, 64)],
        regions=[_call(str(domain), 10 * n, 10 * n + 5, 1, domain) for n, domain in enumerate(domains, 1)],
        samples=[{"process": 0, "thread": 0, "domain": "MARKER", "name": "now", "time_ns": 3_000}],
    )
    events = _events(write_chrome(run, tmp_path / "trace.json").path)
    categories = [(event["cat"], event["name"]) for event in events if event["ph"] in "Xi"]
    assert categories == [
        ("kernel", "gemm"),
        ("gpu_memset", "Memset (Device)"),
        ("gpu_memcpy", "MEMORY_COPY_HOST_TO_DEVICE"),
        ("cuda_runtime", "HIP"),
        ("cpu_op", "OPERATOR"),
        ("user_annotation", "MARKER"),
        ("python_function", "PYTHON"),
        ("rccl", "RCCL"),
        ("cpu", "None"),
        ("user_annotation", "now"),
    ]
    assert [event["id"] for event in events if event.get("cat") == "ac2g"] == [1, 1, 3, 3], "TraceLens looks for these"


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    """All that a Chrome trace can hold: times, places, links, sizes, domains, measured values."""
    begin = 1_753_652_182_127_176_383
    sizes = {"workgroup_x": 64, "workgroup_y": 2, "workgroup_z": 1, "grid_x": 6_400, "grid_y": 4, "grid_z": 1}
    run = _run(
        dispatches=[_kernel("gemm", begin + 5_000, begin + 6_001, 1) | sizes],
        copies=[_copy("MEMORY_COPY_DEVICE_TO_HOST", begin + 8_000, 64)],
        regions=[
            _call("hipLaunchKernel", begin, begin + 10, 1),
            _call("aten::mm", begin, begin + 11, None, "OPERATOR") | {"external_correlation": 5},
            _call("step", begin, begin + 12, None, "MARKER"),
            _call("ncclAllReduce", begin, begin + 13, None, "RCCL"),
        ],
        samples=[{"process": 0, "thread": 0, "domain": "MARKER", "name": "now", "time_ns": begin + 3_000}],
        monitors=[
            {"process": 0, "agent": 1, "name": "sclk", "start_ns": start, "end_ns": end, "value": value}
            for start, end, value in ((begin, begin + 7, 800.5), (begin + 7, begin + 999, 1700.0))
        ],
    )
    again = open_run(write_chrome(run, tmp_path / "trace.json").path)
    assert again.losses.height == 0
    for table, columns in {
        "dispatches": ("name", "start_ns", "end_ns", "correlation", *sizes),
        "copies": ("name", "start_ns", "end_ns", "size_bytes"),
        "regions": ("name", "domain", "start_ns", "end_ns", "correlation", "external_correlation"),
        "samples": ("name", "domain", "time_ns"),
        "monitors": ("name", "start_ns", "end_ns", "value"),
        "processes": ("pid", "rank"),
        "threads": ("tid",),
        "queues": ("queue_id",),
    }.items():
        assert again.read(table).select(columns).rows() == run.read(table).select(columns).rows(), table
    assert again.read("streams")["stream_id"][again.dispatches["stream"][0]] == 2
    gpu = again.read("agents").row(0, named=True)
    assert (gpu["absolute_index"], gpu["product"]) == (1, "gfx942")


def test_ranks_are_kept_apart(tmp_path: Path) -> None:
    ranks = [{"process": n, "source": 0, "node": 0, "pid": 7 + n, "rank": n, "command": "app"} for n in (0, 1)]
    run = _run(
        processes=ranks,
        threads=[{"thread": n, "process": n, "tid": 70 + n} for n in (0, 1)],
        dispatches=[_kernel("k", 100 * n + 50, 100 * n + 60, 1) | {"process": n} for n in (0, 1)],
        regions=[_call("launch", 100 * n, 100 * n + 10, 1) | {"process": n, "thread": n} for n in (0, 1)],
    )
    path = write_chrome(run, tmp_path / "trace.json").path
    again = open_run(path)
    assert again.processes.select("pid", "rank").rows() == [(7, 0), (8, 1)]
    assert again.dispatches.select("process", "start_ns").rows() == [(0, 50), (1, 150)]
    flows = [(event["ph"], event["id"]) for event in _events(path) if event["ph"] in "sf"]
    assert flows == [("s", 1), ("f", 1), ("s", 3), ("f", 3)], "correlations of two processes are not unique"


def test_arguments_of_operators_are_kept(tmp_path: Path) -> None:
    """Of a Chrome trace: what it said about operators and collectives; of anything else that is no JSON, nothing."""
    said = '{"External id":5,"Input Dims":[[8944,1024],[1024,2816]],"text":"a\\"b"}'
    broken = ['{"a":', "[1]", "5", "{}", '{"a":NaN}']
    regions = [_call("aten::mm", 10, 20, None, "OPERATOR") | {"external_correlation": 5, "event_properties": said}]
    regions += [_call("x", 30 + n, 31 + n, 4, "OPERATOR") | {"event_properties": t} for n, t in enumerate(broken)]
    run = _run(regions=[row | {"category": "cpu_op"} for row in regions])
    run = Run([MemorySource("trace.json", "Kineto", tables=run.to_polars())])
    events = [event for event in _events(write_chrome(run, tmp_path / "trace.json").path) if event["ph"] == "X"]
    assert events[0]["args"] == json.loads(said)
    assert [event["args"] for event in events[1:]] == [{"correlation": 4}] * len(broken)


def test_copies_samples_arguments_counters_and_clocks(tmp_path: Path) -> None:
    run = _run(
        dispatches=[_kernel("gemm", 5_000, 6_000)],
        copies=[{"process": 0, "name": "copy", "start_ns": 1_000, "end_ns": 2_000, "dst_agent": 1, "size_bytes": 64}],
        samples=[{"process": 0, "thread": 0, "domain": "MARKER", "name": "now", "time_ns": 3_000}],
        regions=[_call("hipMalloc", 100, 200)],
        arguments=[
            {"process": 0, "event": 100, "position": 1, "name": "size", "value": "64"},
            {"process": 0, "event": 100, "position": 0, "name": "ptr", "value": "0x1"},
        ],
        counter_info=[{"counter": 0, "process": 0, "name": "SQ_WAVES"}],
        counters=[{"process": 0, "counter": 0, "event": 5_000, "value": value} for value in (2.0, 3.5)],
        monitors=[{"process": 0, "agent": 1, "name": "sclk", "start_ns": 1_000, "end_ns": 9_000, "value": 800.0}],
    )
    events = _events(write_chrome(run, tmp_path / "trace.json.gz").path)
    copy = next(event for event in events if event["name"] == "copy")
    assert (copy["pid"], copy["args"]) == (1, {"device": 1, "stream": 0, "bytes": 64})
    assert copy["tid"] != 4, "copies have tracks of their own"
    mark = next(event for event in events if event["ph"] == "i")
    assert (mark["name"], mark["ts"], mark["pid"], mark["tid"]) == ("now", 3, 7, 70)
    call = next(event for event in events if event["name"] == "hipMalloc")
    assert call["args"] == {"category": "HIP_RUNTIME_API", "desc": "ptr=0x1 | size=64"}
    points = [(event["name"], event["ts"], *event["args"].values()) for event in events if event["ph"] == "C"]
    assert points == [("sclk", 1, 800), ("sclk", 9, 800), ("SQ_WAVES", 5, 5.5), ("SQ_WAVES", 6, 0)]


def test_processes_of_the_same_number_are_kept_apart(tmp_path: Path) -> None:
    one, other = (_run(dispatches=[_kernel(name, 5_000, 6_000)]).origins[0] for name in "ab")
    events = _events(write_chrome(Run([one, other]), tmp_path / "trace.json").path)
    shown = {(event["pid"], event["args"]["name"]) for event in events if event["name"] == "process_name"}
    assert len({pid for pid, name in shown if name.startswith("app")}) == 2
    work = [event for event in events if event["ph"] == "X"]
    assert len({event["pid"] for event in work}) == 1, "both saw the same GPU of the same host"
    assert len({event["tid"] for event in work}) == 2, "each through a queue of its own"


def test_arrows_can_be_left_out(tmp_path: Path) -> None:
    run = open_run(write_rpd_file(tmp_path / "made.rpd", _plain_rows()))
    events = _events(write_chrome(run, tmp_path / "trace.json", with_flows=False).path)
    assert not [event for event in events if event["ph"] in "sf"]
    assert [event for event in events if event["name"] == "QueueDepth"]


def _plain_rows() -> dict[str, list[tuple[Any, ...]]]:
    """The made file without what needs a closer look: the other node, damage, counters."""
    rows = {table: [row for row in values if row[0] < 1 << 32] for table, values in ROWS.items()}
    return rows | {
        "rocpd_counter": [],
        "rocpd_kernelapi": ROWS["rocpd_kernelapi"][1:],
        "rocpd_api_ops": ROWS["rocpd_api_ops"][:3],
        "rocpd_copyapi": [],
        "rocpd_monitor": [(1, "gpu", 2, "sclk", 1, 50, "1700"), (2, "gpu", 2, "temp", 1, 50, "warm")],
    }


def test_an_rpd_file_looks_as_rpd2tracing_shows_it(tmp_path: Path) -> None:
    """Work says the type of its op, calls the text of their arguments, markers their own text."""
    run = open_run(write_rpd_file(tmp_path / "made.rpd", _plain_rows()))
    events = _events(write_chrome(run, tmp_path / "trace.json").path)
    assert Counter(event["ph"] for event in events) == {"X": 7, "i": 1, "s": 3, "f": 3, "C": 12, "M": 6}
    shown = [event for event in events if event["ph"] in "Xi"]
    places = ("device", "stream", "queue-id", "correlation", "grid", "block", "lds_bytes", "scratch_bytes")
    described = [{key: value for key, value in event["args"].items() if key not in places} for event in shown]
    rows = [(event["pid"], event["tid"], event["name"]) for event in shown]
    assert [(*row, args) for row, args in zip(rows, described, strict=True)] == [
        (2, 0, "gemm", {"desc": "KernelExecution"}),
        (2, 1, "relu", {"desc": "Task"}),
        (2, 1, "FillBuffer", {"desc": "FillBuffer"}),
        (5, 50, "hipLaunchKernel", {"desc": "size=64 | free"}),
        (5, 50, 'step "1"', {"desc": 'step "1"'}),
        (5, 51, "hipGraphLaunch", {"desc": "graphExec = 0xabc | stream = 0x5"}),
        (5, 50, 'step "1"', {"desc": 'step "1"'}),
        (2, 0, 'step "1"', {"desc": "UserMarker frame: 1 ops"}),
    ]


@pytest.mark.parametrize(
    ("table", "row", "count"),
    [
        pytest.param("rocpd_op", (9, 2, 0, 0, 700, 600, 8, 5), 14, id="ends before it begins"),
        pytest.param("rocpd_op", (9, 2, 0, 0, 700, 800, 77, 5), 14, id="no name"),
        pytest.param("rocpd_op", (9, 2, None, 0, 700, 800, 8, 5), 14, id="no queue"),
        pytest.param("rocpd_api_ops", (99, 2, 1), 13, id="launched by two calls"),
        pytest.param("rocpd_api_ops", (99, 77, 77), 13, id="a link to nothing"),
    ],
)
def test_odd_rows_are_shown(tmp_path: Path, table: str, row: tuple[Any, ...], count: int) -> None:
    rows = _plain_rows()
    rows[table] = [*rows[table], row]
    run = open_run(write_rpd_file(tmp_path / "made.rpd", rows))
    events = _events(write_chrome(run, tmp_path / "trace.json").path)
    assert sum(event["ph"] in "Xisf" and "frame" not in str(event.get("args")) for event in events) == count


def test_of_calls_with_one_correlation_the_first_has_the_arrow(tmp_path: Path) -> None:
    calls = [_call("late", 3_000, 4_500, 1), _call("early", 1_000, 2_000, 1), _call("marker", 0, 10, 1, "MARKER")]
    run = _run(dispatches=[_kernel("gemm", 9_000, 9_500, 1)], regions=calls)
    events = _events(write_chrome(run, tmp_path / "trace.json").path)
    assert [event["ts"] for event in events if event["ph"] == "s"] == [1], "inside of the call"


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "trace.json"
    target.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_chrome(Run([]), target)
    assert target.read_text() == "mine"


def test_nothing_is_left_of_a_trace_that_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("wavewright.export.run.chrome._TraceWriter.write", fail)
    with pytest.raises(Exception, match="No space left"):
        write_chrome(_run(dispatches=[]), tmp_path / "trace.json")
    assert list(tmp_path.iterdir()) == []


def test_columns_must_fit_each_other() -> None:
    trace = _core.ChromeTrace(lambda _: None)
    good = pl.DataFrame({"pid": [1], "tid": [1], "start_ns": [1], "end_ns": [2]})
    good = good.with_columns(name=pl.lit(0, pl.UInt32), args=pl.lit(0, pl.UInt32))
    texts = _core.json_texts(["a"])
    trace.slices(good, texts, texts)
    with pytest.raises(ValueError, match="number without a text"):
        trace.slices(good.with_columns(name=pl.lit(1, pl.UInt32)), texts, texts)
    with pytest.raises(ValueError, match="nulls"):
        trace.slices(good.with_columns(pid=pl.lit(None, pl.Int64)), texts, texts)
