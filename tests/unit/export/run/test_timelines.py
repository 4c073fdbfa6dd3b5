"""Timelines and OTF2: every event on the line where it happened, begins and ends balanced."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth import Workload, write_rocpd, write_rpd
from wavewright.errors import MissingToolError, UsageError
from wavewright.export.run.csv import write_csv
from wavewright.export.run.otf2 import timelines, write_otf2
from wavewright.export.run.perfetto import write_perfetto
from wavewright.export.run.tables import write_run_json
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.readers.run.inputs import open_run

Slice = tuple[str, int, int]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    workload = Workload(dispatches=700, ranks=2, nodes=2, gpus=4, graphs=True, hostile_names=True)
    return open_run(str(write_rocpd(tmp_path_factory.mktemp("run") / "run.db", workload).paths[0]))


def slices(run: Run, *tables: str) -> Counter[Slice]:
    """Name, begin and end of every row."""
    found: Counter[Slice] = Counter()
    for table in tables:
        begin, end = ("time_ns", "time_ns") if table == "samples" else ("start_ns", "end_ns")
        found.update(run.table(table).select(pl.col("name").cast(pl.String), begin, pl.col(end).alias("e")).rows())
    return found


CALLS, WORK = ("regions", "samples"), ("dispatches", "copies")


def lines_of(run: Run) -> dict[str, list[Slice]]:
    """Slices by track; starts and ends must be balanced and in order."""
    found: dict[str, list[Slice]] = {}
    for part in run.parts:
        pids = part.table("processes")["pid"].to_list()
        for track, events in timelines(part, []):
            last, stack = 0, list[tuple[str, int]]()
            pid = None if track.process is None else pids[track.process]
            done = found.setdefault(f"process {pid}: {track.label}", [])
            for time, name, is_end in events.select("time_ns", pl.col("name").cast(pl.String), "is_end").rows():
                assert time >= last
                last = time
                if not is_end:
                    stack.append((name, time))
                    continue
                begun, begin = stack.pop()
                assert begun == name, "what began last ends first"
                done.append((name, begin, time))
            assert not stack
    return found


def test_every_event_is_on_the_track_where_it_happened(run: Run) -> None:
    found = lines_of(run)
    threads = Counter(part for name, line in found.items() if "Thread" in name for part in line)
    queues = Counter(part for name, line in found.items() if "Queue" in name for part in line)
    assert threads == slices(run, *CALLS)
    assert queues == slices(run, *WORK)


def test_what_overlaps_has_a_timeline_of_its_own() -> None:
    kernels = {"process": [0] * 3, "agent": [0] * 3, "name": ["a", "b", "c"]}
    tables = {
        "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [7]}),
        "agents": pl.DataFrame({"agent": [0], "process": [0], "kind": ["GPU"], "type_index": [0]}),
        "dispatches": pl.DataFrame({**kernels, "start_ns": [10, 15, 30], "end_ns": [20, 25, None]}),
    }
    made = Run([MemorySource("x", "made", tables=tables)])
    found = lines_of(made)
    assert found == {
        "process 7: GPU 0, no queue": [("a", 10, 20), ("c", 30, 30)],
        "process 7: GPU 0, no queue, overlap 1": [("b", 15, 25)],
    }


def test_events_without_a_process_have_a_place(tmp_path: Path) -> None:
    times = {"process": [None], "name": ["a"], "start_ns": [1], "end_ns": [2]}
    tables = {
        "dispatches": pl.DataFrame(times),
        "copies": pl.DataFrame(times),
        "regions": pl.DataFrame(times),
        "samples": pl.DataFrame({"process": [None], "name": ["a"], "time_ns": [3]}),
    }
    made = Run([MemorySource("x", "made", tables=tables)])
    found = lines_of(made)
    assert sum(map(len, found.values())) == 4
    written = write_perfetto(made, tmp_path / "x.pftrace")
    assert [written.counts[table] for table in tables] == [1, 1, 1, 1]
    write_csv(made, tmp_path / "csv")
    pytest.importorskip("otf2")
    assert sum(map(len, read_otf2(write_otf2(made, tmp_path / "archive").path)[0].values())) == 4


def read_otf2(folder: Path) -> tuple[dict[Any, list[Slice]], Any]:
    reader = pytest.importorskip("otf2.reader")
    events = pytest.importorskip("otf2.events")
    found: dict[Any, list[Slice]] = defaultdict(list)
    with reader.open(str(folder / "traces.otf2")) as archive:
        stacks: dict[Any, list[tuple[str, int]]] = defaultdict(list)
        last: dict[Any, int] = defaultdict(int)
        for location, event in archive.events:
            assert event.time >= last[location.name, location.group.name]
            last[location.name, location.group.name] = event.time
            stack = stacks[location.name, location.group.name]
            if isinstance(event, events.Enter):
                stack.append((event.region.name, event.time))
            else:
                name, begin = stack.pop()
                assert name == event.region.name
                found[location.name, location.group.name].append((name, begin, event.time))
        assert not any(stacks.values())
        locations = {
            (location.name, location.group.name): (location.type, location.number_of_events,
                                                   location.group.system_tree_parent.name)
            for location in archive.definitions.locations
        }  # fmt: skip
    return found, locations


def test_otf2(run: Run, tmp_path: Path) -> None:
    types = pytest.importorskip("otf2").LocationType
    written = write_otf2(run, tmp_path / "archive")
    found, locations = read_otf2(written.path)
    assert written.counts["locations"] == len(locations) == len(found)
    threads = Counter(part for place, line in found.items() if "Thread" in place[0] for part in line)
    queues = Counter(part for place, line in found.items() if "Queue" in place[0] for part in line)
    assert threads == slices(run, *CALLS)
    assert queues == slices(run, *WORK)
    for place, (kind, events, node) in locations.items():
        assert events == 2 * len(found[place]), "the definition counts what is there"
        assert kind == (types.CPU_THREAD if "Thread" in place[0] else types.ACCELERATOR_STREAM)
        assert node in place[1], "a process hangs below its host"


def test_otf2_without_the_package(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    monkeypatch.setitem(sys.modules, "otf2.writer", None)
    with pytest.raises(MissingToolError, match="otf2"):
        write_otf2(run, tmp_path / "archive")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("extension", ["db", "rpd"])
def test_json_has_all_tables(tmp_path: Path, extension: str) -> None:
    write = write_rocpd if extension == "db" else write_rpd
    run = write(tmp_path / f"run.{extension}", Workload(dispatches=300, ranks=2, hostile_names=True))
    document = open_run(str(run.paths[0]))
    written = write_run_json(document, tmp_path / "run.json")
    tables = json.loads(written.path.read_bytes())["tables"]
    assert set(tables) == set(RUN)
    for name, columns in tables.items():
        frame = document.table(name)
        assert list(columns) == frame.columns
        assert columns == frame.with_columns(pl.col(pl.Categorical).cast(pl.String)).to_dict(as_series=False), name
    assert written.counts["dispatches"] == 300


def test_files_that_exist_are_kept(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_text("mine")
    with pytest.raises(UsageError):
        write_run_json(run, target)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("write", [write_perfetto, write_run_json])
def test_equal_runs_give_equal_bytes(run: Run, tmp_path: Path, write: Any) -> None:
    first, second = (write(run, tmp_path / f"{number}").path.read_bytes() for number in range(2))
    assert first == second
