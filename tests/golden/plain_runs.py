"""Plain recomputations from runs as the files have them: sqlite3, csv and json, and loops.

Nothing here imports wavewright: what it says is a second opinion about its numbers. Slow and simple on purpose.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

Interval = tuple[int, int]
Key = tuple[Any, ...]


@dataclass
class Event:
    """One dispatch, copy, allocation or call."""

    domain: str
    name: str
    begin: int
    end: int
    node: str
    process: Key
    rank: int | None = None
    thread: Key = ()
    gpus: tuple[Key, ...] = ()
    """GPUs that it keeps busy; the last one is the one it is counted for."""
    stream: Key = ()
    launch: Key = ()
    shape: Key = ()

    @property
    def duration(self) -> int:
        return self.end - self.begin


@dataclass
class PlainRun:
    """What files recorded."""

    events: list[Event]
    marks: list[tuple[str, int]]
    """Node and time of events without duration."""

    def of(self, *domains: str) -> list[Event]:
        return [event for event in self.events if event.domain in domains]

    @property
    def work(self) -> list[Event]:
        return self.of("KERNEL", "COPY")

    @property
    def calls(self) -> list[Event]:
        return [event for event in self.events if event.domain not in ("KERNEL", "COPY", "ALLOCATION", "SCRATCH")]


def read(*paths: Path) -> PlainRun:
    """All files as one run."""
    readers: dict[str, Callable[[Path], PlainRun]] = {".db": rocpd, ".rpd": rpd, ".csv": rocprofv3_csv}
    runs = []
    for path in paths:
        suffix = path.name.removesuffix(".gz")
        reader = readers.get(Path(suffix).suffix)
        runs.append(reader(path) if reader else traced_json(path))
    return PlainRun([event for run in runs for event in run.events], [mark for run in runs for mark in run.marks])


# --- ROCpd


def rocpd(path: Path) -> PlainRun:
    run = PlainRun([], [])
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for suffix in [name.removeprefix("rocpd_metadata") for name in tables if name.startswith("rocpd_metadata")]:

        def table(name: str, suffix: str = suffix) -> list[sqlite3.Row]:
            return list(database.execute(f'SELECT * FROM "rocpd_{name}{suffix}"'))  # noqa: S608 - ours

        _rocpd_run(table, run)
    database.close()
    return run


def _rocpd_run(table: Callable[[str], list[sqlite3.Row]], run: PlainRun) -> None:
    strings = {row["id"]: row["string"] for row in table("string")}
    events = {row["id"]: row for row in table("event")}
    hosts = {row["id"]: row["hostname"] for row in table("info_node")}
    agents = {row["id"]: row for row in table("info_agent")}
    symbols = {row["id"]: row for row in table("info_kernel_symbol")}
    ranks = {}
    for row in table("info_process"):
        environment = json.loads(row["environment"])
        known = [environment[name] for name in ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID") if name in environment]
        ranks[row["id"]] = int(known[0]) if known else None

    def event(row: sqlite3.Row, domain: str, name: str, **more: Any) -> None:
        process = (row["guid"], row["pid"])
        launch = (process, events[row["event_id"]]["stack_id"])
        node = hosts[row["nid"]]
        times = (row["start"], row["end"])
        thread = (process, row["tid"])
        run.events.append(Event(domain, name, *times, node, process, ranks[row["pid"]], thread, launch=launch, **more))

    def gpus(row: sqlite3.Row, *columns: str) -> tuple[Key, ...]:
        found = [agents[row[name]] for name in columns if row[name] is not None]
        places = [(hosts[agent["nid"]], agent["type_index"]) for agent in found if agent["type"] == "GPU"]
        return tuple(dict.fromkeys(places))

    for row in table("kernel_dispatch"):
        symbol = symbols[row["kernel_id"]]
        sizes = [row[f"{what}_size_{axis}"] for what in ("workgroup", "grid") for axis in "xyz"]
        registers = [symbol[f"{name}_count"] for name in ("arch_vgpr", "accum_vgpr", "sgpr")]
        shape = (*sizes, row["group_segment_size"], row["private_segment_size"], *registers)
        stream = (row["guid"], row["pid"], row["stream_id"])
        event(row, "KERNEL", symbol["display_name"], gpus=gpus(row, "agent_id"), stream=stream, shape=shape)
    for row in table("memory_copy"):
        stream = (row["guid"], row["pid"], row["stream_id"])
        event(row, "COPY", strings[row["name_id"]], gpus=gpus(row, "src_agent_id", "dst_agent_id"), stream=stream)
    for row in table("memory_allocate"):
        is_scratch = row["level"] == "SCRATCH"
        name = row["type"] if is_scratch else f"{row['type']} {row['level']}"
        event(row, "SCRATCH" if is_scratch else "ALLOCATION", name)
    for row in table("region"):
        told = events[row["event_id"]]
        message = json.loads(told["extdata"]).get("message")
        event(row, strings[told["category_id"]].split("_")[0], message or strings[row["name_id"]])
    tracks = {row["id"]: row["nid"] for row in table("track")}
    run.marks += [(hosts[tracks[row["track_id"]]], row["timestamp"]) for row in table("sample")]


# --- RPD

RPD_DOMAINS = {"HIP": "^(__)?hip", "RCCL": "^nccl", "TOOL": "Table::write|^hcc_activity_callback$|^rpdflush$"}


def rpd(path: Path) -> PlainRun:
    database = sqlite3.connect(":memory:")
    database.deserialize((gzip.decompress if path.suffix == ".gz" else bytes)(path.read_bytes()))
    database.row_factory = sqlite3.Row

    def table(name: str) -> list[sqlite3.Row]:
        return list(database.execute(f"SELECT * FROM rocpd_{name}"))  # noqa: S608 - ours

    run = PlainRun([], [])
    strings = {row["id"]: row["string"] for row in table("string")}
    is_former = not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'rocpd_ustring'").fetchall()
    texts = strings if is_former else {row["id"]: row["string"] for row in table("ustring")}
    strides = {row["tag"]: int(row["value"]) for row in table("metadata") if row["tag"].endswith("_stride")}
    calls = {row["id"]: row for row in table("api")}

    def place(call: sqlite3.Row) -> dict[str, Any]:
        node = str(call["pid"] // strides.get("pid_stride", 1 << 62))
        return {"node": node, "process": (call["pid"],), "thread": (call["pid"], call["tid"])}

    for row in calls.values():
        name = strings[row["apiName_id"]]
        domain = next((kind for kind, pattern in RPD_DOMAINS.items() if re.search(pattern, name)), "OTHER")
        if not is_former:
            domain = strings[row["domain_id"]].upper() or domain
        if name == "UserMarker":
            domain, name = "MARKER", texts[row["args_id"]]
            if row["start"] == row["end"]:
                run.marks.append((place(row)["node"], row["start"]))
                continue
        run.events.append(Event(domain, name, row["start"], row["end"], **place(row), launch=(row["id"],)))
    streams = {row["api_ptr_id"]: row["stream"] for kind in ("kernelapi", "copyapi") for row in table(kind)}
    graphs = [row for row in calls.values() if strings[row["apiName_id"]] == "hipGraphLaunch"]
    for row in graphs:
        streams[row["id"]] = dict(part.split("=") for part in texts[row["args_id"]].replace(" ", "").split("|"))[
            "stream"
        ]
    launches = {row["op_id"]: row["api_id"] for row in reversed(table("api_ops"))}
    for row in table("op"):
        kind = strings[row["opType_id"]]
        launch = launches[row["id"]]
        call = place(calls[launch])
        run.events.append(
            Event(
                "COPY" if kind.startswith("Copy") else "KERNEL",
                strings[row["description_id"]] or kind,
                row["start"],
                row["end"],
                **call,
                gpus=((row["gpuId"],),),
                stream=(call["process"], streams[launch]) if launch in streams else (),
                launch=(launch,),
            )
        )
    return run


# --- CSV and JSON


def rocprofv3_csv(path: Path) -> PlainRun:
    run = PlainRun([], [])
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(newline="") as file:
        for row in csv.DictReader(file):
            times = (int(row["Start_Timestamp"]), int(row["End_Timestamp"]))
            thread = (row["Thread_Id"],)
            if "Kernel_Name" not in row:
                domain = row["Domain"].split("_")[0]
                run.events.append(Event(domain, row["Function"], *times, "", (), thread=thread))
                continue
            gpus = ((row["Agent_Id"],),)
            sizes = [f"{what}_Size_{axis}" for what in ("Workgroup", "Grid") for axis in "XYZ"]
            rest = ["LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count"]
            shape = tuple(int(row[name]) for name in (*sizes, *rest) if name in row)
            stream = ("", row.get("Stream_Id"))
            run.events.append(
                Event(
                    "KERNEL", row["Kernel_Name"], *times, "", (), thread=thread, gpus=gpus, stream=stream, shape=shape
                )
            )
    return run


def traced_json(path: Path) -> PlainRun:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    file = json.loads(data, parse_float=Decimal)
    if "rocprofiler-sdk-tool" in file:
        return _rocprofv3_json(file["rocprofiler-sdk-tool"])
    return _kineto(file["traceEvents"])


def _rocprofv3_json(processes: list[Any]) -> PlainRun:
    run = PlainRun([], [])
    for process in processes:
        names = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in process["kernel_symbols"]}
        for row in process["buffer_records"]["kernel_dispatch"]:
            told = row["dispatch_info"]
            times = (row["start_timestamp"], row["end_timestamp"])
            gpus = ((told["agent_id"]["handle"],),)
            stream = (row["stream_id"]["handle"],)
            run.events.append(Event("KERNEL", names[told["kernel_id"]], *times, "", (), gpus=gpus, stream=stream))
    return run


KINETO = {
    "kernel": "KERNEL",
    "gpu_memcpy": "COPY",
    "gpu_memset": "KERNEL",
    "cuda_runtime": "HIP",
    "cuda_driver": "HIP",
    "cpu_op": "OPERATOR",
    "user_annotation": "MARKER",
    "python_function": "PYTHON",
}
KINETO_COPIES = {"HtoD": "HOST_TO_DEVICE", "DtoH": "DEVICE_TO_HOST", "DtoD": "DEVICE_TO_DEVICE"}


def _kineto(events: list[Any]) -> PlainRun:
    run = PlainRun([], [])
    for row in events:
        if row.get("ph") == "i" and row.get("name") == "[memory]":
            time = int(Decimal(row["ts"]) * 1000)
            name = "ALLOC FRAMEWORK" if int(row["args"]["Bytes"]) > 0 else "FREE FRAMEWORK"
            run.events.append(Event("ALLOCATION", name, time, time, "", ()))
        domain = KINETO.get(row.get("cat", ""))
        if row.get("ph") != "X" or not domain:
            continue
        arguments = row.get("args", {})
        begin = int((Decimal(row["ts"]) * 1000).to_integral_value())
        end = begin + int((Decimal(row.get("dur", 0)) * 1000).to_integral_value())
        name = str(row["name"])
        process = (arguments.get("rank"),)
        gpus: tuple[Key, ...] = ()
        if domain in ("KERNEL", "COPY"):
            gpus = ((*process, arguments["device"]),)
        if domain == "COPY":
            (name,) = [f"MEMORY_COPY_{long}" for short, long in KINETO_COPIES.items() if short in name]
        thread = (*process, row["pid"], row["tid"])
        stream = (*process, arguments.get("stream"))
        run.events.append(Event(domain, name, begin, end, "", process, thread=thread, gpus=gpus, stream=stream))
    return run


# --- the questions


def quantile(values: list[int], share: float) -> float:
    """Between the two values around it, in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def grouped(events: Iterable[Event], key: Callable[[Event], Key]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = defaultdict(list)
    for event in events:
        found[key(event)].append(event.duration)
    return found


def statistics_of(durations: list[int]) -> dict[str, float | None]:
    return {
        "calls": len(durations),
        "total_ns": sum(durations),
        "mean_ns": sum(durations) / len(durations),
        "median_ns": quantile(durations, 0.5),
        "p95_ns": quantile(durations, 0.95),
        "p99_ns": quantile(durations, 0.99),
        "min_ns": min(durations),
        "max_ns": max(durations),
        "stddev_ns": statistics.stdev(durations) if len(durations) > 1 else None,
    }


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    found: list[list[int]] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return [(begin, end) for begin, end in found]


def length(intervals: Iterable[Interval]) -> int:
    return sum(end - begin for begin, end in merged(intervals))


def by_gpu(run: PlainRun) -> dict[Key, list[Event]]:
    found: dict[Key, list[Event]] = defaultdict(list)
    for event in run.work:
        for gpu in event.gpus:
            found[gpu].append(event)
    return found


def spans(run: PlainRun) -> dict[str, Interval]:
    """Node -> from the first begin to the last end of its GPU work."""
    found: dict[str, Interval] = {}
    for event in run.work:
        begin, end = found.get(event.node, (event.begin, event.end))
        found[event.node] = (min(begin, event.begin), max(end, event.end))
    return found


def times(events: Iterable[Event]) -> list[Interval]:
    return [(event.begin, event.end) for event in events]


@dataclass
class Nested:
    """What the calls of each name sum up to."""

    calls: Counter[str]
    inclusive: Counter[str]
    exclusive: Counter[str]
    crossings: int


def nested(run: PlainRun) -> Nested:
    """Every call below the innermost call of its thread that is under way and outlasts it."""
    answer = Nested(Counter(), Counter(), Counter(), 0)
    threads: dict[Key, list[Event]] = defaultdict(list)
    for call in run.calls:
        threads[call.thread].append(call)
    for calls in threads.values():
        open_calls: list[Event] = []
        for call in sorted(calls, key=lambda call: (call.begin, -call.end)):
            while open_calls and open_calls[-1].end <= call.begin and open_calls[-1].end < call.end:
                open_calls.pop()
            if open_calls and open_calls[-1].end < call.end:
                answer.crossings += 1
            answer.calls[call.name] += 1
            answer.inclusive[call.name] += call.duration
            answer.exclusive[call.name] += call.duration
            if open_calls:
                answer.exclusive[open_calls[-1].name] -= call.duration
            open_calls.append(call)
    return answer


def extents(run: PlainRun) -> dict[str, Interval]:
    """Node -> from its first event to its last, marks included."""
    found: dict[str, Interval] = {}
    moments = [(event.node, event.begin, event.end) for event in run.events]
    for node, begin, end in moments + [(node, time, time) for node, time in run.marks]:
        known = found.get(node, (begin, end))
        found[node] = (min(known[0], begin), max(known[1], end))
    return found
