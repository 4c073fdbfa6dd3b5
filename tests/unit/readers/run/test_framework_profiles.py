"""Files of frameworks beside their traces: read as far as they carry runs, or refused with what reads them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from wavewright.errors import NotATraceError
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run

_KERNEL = {"count": 2, "device_id": "1", "device_type": "HIP", "time (ns)": 204_800, "flops8": 1e11}


def node(name: str, *children: object, **metrics: object) -> dict[str, object]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}


def test_proton(tmp_path: Path) -> None:
    """Sums of kernels with the scopes that they were launched in."""
    tree = node("ROOT", node("step", node("gemm", **_KERNEL), node("copy", **{"time (ns)": 7})), count=0)
    path = tmp_path / "profile.hatchet"
    path.write_text(json.dumps([tree, {"HIP": {"1": {"arch": "gfx942"}}}]))
    assert sniff(path) is Kind.PROTON
    rows = (
        open_run(path).table("call_totals").select("metric", "unit", "depth", "name", "parent", "count", "sum").rows()
    )
    assert rows == [
        ("", "", 0, "ROOT", None, None, None),
        ("", "", 1, "step", 0, None, None),
        ("time (ns), HIP 1", "ns", 2, "gemm", 1, 2, 204_800.0),
        ("flops8, HIP 1", "", 2, "gemm", 1, 2, 1e11),
        ("time (ns)", "ns", 2, "copy", 1, None, 7.0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        b'[{"frame":{},"metrics":{},"children":[]}]',
        b'[{"frame":7,"metrics":[],"children":{"a":1}},{}]',
        b'[{"frame":{},"metrics":{},"children":[' + b'{"children":[' * 100_000,
        b'[{"frame":{"name":"a"},"metrics":{"time (ns)":1e999},"children":[]}',
    ],
)
def test_damaged_proton(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "profile.hatchet"
    path.write_bytes(text)
    with pytest.raises(NotATraceError):
        open_run(path)


def test_what_carries_no_run_names_its_tool(tmp_path: Path) -> None:
    execution = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "", "start_ts": 1, "nodes": [{"id": 2, "name": "a"}]}
    files = {
        "host.json": (json.dumps(execution).encode(), "torch.profiler"),
        "workload.et": (b"\x5e\x12\x10\n\x06schema\xea\x01\x051.0.1", "torch.profiler"),
        "report.nsys-rep": (b"\x00\x01anything", "nsys stats"),
    }
    for name, (content, tool) in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(NotATraceError) as refused:
            open_run(tmp_path / name)
        assert tool in refused.value.advice, name
    with sqlite3.connect(tmp_path / "report.sqlite") as database:
        database.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER)")
    assert sniff(tmp_path / "report.sqlite") is Kind.NSYS
    with pytest.raises(NotATraceError, match="Nsight Systems"):
        open_run(tmp_path / "report.sqlite")
