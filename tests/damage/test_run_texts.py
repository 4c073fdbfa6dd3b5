"""CSV, JSON and Chrome traces that were cut or changed: rows, losses or one clear error; never a crash."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from tests.unit.readers.run.test_kineto import AROUND, EVENTS
from tests.unit.readers.run.test_rocprofv3_csv import API, KERNEL, kernel
from tests.unit.readers.run.test_rocprofv3_json import process
from wavewright.errors import WavewrightError
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

COUNTERS = (
    '"Dispatch_Id","Process_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n'
    '1,9,"k","SQ_WAVES",2.5,10,15\n2,9,"k","SQ_WAVES",1e3,20,25\n'
)
SPECIMENS = {
    "1_kernel_trace.csv": KERNEL
    + "".join(kernel(number, begin=number * 10, end=number * 10 + 5) for number in range(9)),
    "1_hip_api_trace.csv": API + '"HIP_RUNTIME_API","hipInit",3,3,1,5,9\n"MARKER_CORE_API","a ""b""",3,3,2,6,6\n',
    "1_counter_collection.csv": COUNTERS,
    "1_results.json": json.dumps({"rocprofiler-sdk-tool": [process()]}),
    "trace.json": json.dumps({**AROUND, "traceEvents": EVENTS}),
    "list.json": json.dumps(EVENTS),
}
WORDS = (
    b"-1",
    b"18446744073709551616",
    b"1e400",
    b"null",
    b'""',
    b'"',
    b"NaN",
    b"[]",
    b"{}",
    b",",
    b"\n",
    b"\0",
    b"\xff",
)
TABLES = ("dispatches", "copies", "regions", "samples", "allocations", "counters", "agents", "processes", "losses")


def read(path: Path, data: bytes) -> int:
    """Rows that could be read; -1 = an error that says so."""
    path.write_bytes(data)
    try:
        run = open_run(path)
    except WavewrightError as error:
        assert str(error).startswith(str(path.parent))
        return -1
    return sum(run.table(name).height for name in TABLES)


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("name", SPECIMENS)
def test_cut_anywhere(tmp_path: Path, name: str) -> None:
    whole = SPECIMENS[name].encode()
    step = max(1, len(whole) // 70)
    for length in [*range(0, len(whole), step), len(whole) - 1]:
        read(tmp_path / name, whole[:length])


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("name", SPECIMENS)
def test_changed_anywhere(tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    for _ in range(60):
        data = bytearray(SPECIMENS[name].encode())
        for _ in range(chance.choice((1, 1, 3, 12))):
            at = chance.randrange(len(data))
            if chance.random() < 0.5:
                data[at] = chance.randrange(256)
            else:
                data[at : at + chance.randrange(9)] = chance.choice(WORDS)
        read(tmp_path / name, bytes(data))


@pytest.mark.slow
def test_a_cut_table_counts_what_it_lost(tmp_path: Path) -> None:
    whole = SPECIMENS["1_kernel_trace.csv"].encode()
    for length in range(len(KERNEL) + 1, len(whole), 7):
        (tmp_path / "1_kernel_trace.csv").write_bytes(whole[:length])
        run = open_run(tmp_path)
        lines = whole[:length].count(b"\n") - 1 + (not whole[:length].endswith(b"\n"))
        losses = dict(run.losses.select("kind", "count").rows())
        assert run.dispatches.height + losses.get("malformed_events", 0) == lines
        assert ("cut_file" in losses) != whole[:length].endswith(b"\n")
