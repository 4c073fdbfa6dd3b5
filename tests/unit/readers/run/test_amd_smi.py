"""Samples of amd-smi beside a run: whose they are, when, and what is lost of damaged ones."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth import Workload, write_rocpd, write_rpd
from tests.cli.in_process import call
from tests.kit.mutations import mutated_bytes
from wavewright.facts.gpus.samples import FILE
from wavewright.model.run import Run
from wavewright.readers.run.inputs import open_run

GPU = "0000:05:00.0"  #: The first GPU of a made run: location 1280.


def metrics(clock: float, *, wrapped: bool = True) -> Any:
    """An answer of amd-smi in the forms of ROCm 7 and 6."""
    answer = {
        "gpu": 0,
        "usage": {"gfx_activity": {"value": 97, "unit": "%"}, "mm_activity": "N/A"},
        "power": {"socket_power": {"value": 540, "unit": "W"}},
        "clock": {
            "gfx_0": {"clk": {"value": clock - 10, "unit": "MHz"}, "max_clk": {"value": 9, "unit": "MHz"}},
            "gfx_1": {"clk": {"value": clock + 10, "unit": "MHz"}},
            "mem_0": {"clk": "N/A"},
        },
        "temperature": {"edge": "N/A", "hotspot": {"value": 71, "unit": "C"}, "mem": {"value": None}},
        "mem_usage": {"used_vram": 4096},
    }
    return {"gpu_data": [answer]} if wrapped else [answer]


def line(ns: int, answer: Any, *, pci: str = GPU, clock: str = "boottime") -> str:
    times = {name: ns if name == clock else 7 for name in ("boottime", "monotonic", "realtime")}
    later = {name: value + 20 for name, value in times.items()}
    return json.dumps({"pci": pci, "begin": times, "end": later, "answer": answer})


def made_run(folder: Path, *, rpd: bool = False) -> tuple[Path, int, int]:
    path = folder / "attempts/1/raw/123" / ("run.rpd" if rpd else "run_results.db")
    path.parent.mkdir(parents=True)
    (write_rpd if rpd else write_rocpd)(path, Workload(dispatches=40))
    times = open_run(path).dispatches
    return path, times["start_ns"].min(), times["end_ns"].max()  # type: ignore[return-value]


def monitors(run: Run) -> pl.DataFrame:
    return run.monitors.with_columns(pl.col("name").cast(pl.String))


@pytest.mark.parametrize(("clock", "wrapped"), [("boottime", True), ("realtime", False)])
def test_values_hold_until_the_next_sample_of_the_gpu(tmp_path: Path, clock: str, *, wrapped: bool) -> None:
    path, start, end = made_run(tmp_path)
    middle = (start + end) // 2
    samples = [line(start, metrics(2100, wrapped=wrapped), clock=clock), line(middle, metrics(1700), clock=clock)]
    (path.parent.parent / FILE).write_text("\n".join(samples) + "\n")
    run = open_run(path)
    rows = monitors(run).filter(name="gfx_clk").sort("start_ns")
    assert rows.select("start_ns", "end_ns", "value").rows() == [
        (start + 10, middle + 10, 2100.0),
        (middle + 10, middle + 10, 1700.0),
    ]
    location = run.agents.filter(agent=rows["agent"][0])["properties"][0]
    assert json.loads(location)["location_id"] == 1280
    names = {"gfx_clk", "socket_power", "temp_hotspot", "gfx_activity", "used_vram"}
    assert set(monitors(run)["name"]) == names  # what is N/A is not there
    assert not run.losses.filter(pl.col("kind").str.contains("sample")).height


def test_the_diagnosis_uses_them(tmp_path: Path) -> None:
    path, start, end = made_run(tmp_path)
    points = [line(start + (end - start) * each // 50, metrics(2000)) for each in range(50)]
    assert "clocks (not sampled)" in " ".join(call("diagnose", "--run", str(path)).stdout.split())
    (path.parent / FILE).write_text("\n".join(points))
    said = call("diagnose", "--run", str(path))
    assert said.status == 0, said.stderr
    assert "clocks (not sampled)" not in " ".join(said.stdout.split())


def test_the_only_gpu_of_a_run_without_addresses(tmp_path: Path) -> None:
    path, start, _ = made_run(tmp_path, rpd=True)
    before = monitors(open_run(path)).height
    (path.parent / FILE).write_text(line(start, metrics(2100)))
    run = open_run(path)
    count = run.agents.filter(kind="GPU").height
    assert (monitors(run).height > before) == (count == 1)
    assert bool(run.losses.filter(kind="samples_of_other_gpu").height) == (count != 1)


@pytest.mark.parametrize(
    ("text", "kind", "count"),
    [
        (line(7, metrics(1)), "samples_at_other_times", 1),
        ("{}\n?\n[1]\n" + json.dumps({"pci": GPU, "begin": {}, "end": {}, "answer": None}), "unreadable_samples", 4),
        ("[" * 100_000, "unreadable_samples", 1),
    ],
)
def test_what_is_no_sample_is_a_loss(tmp_path: Path, text: str, kind: str, count: int) -> None:
    path, _, _ = made_run(tmp_path)
    (path.parent / FILE).write_text(text)
    run = open_run(path)
    assert monitors(run).is_empty()
    assert run.losses.filter(kind=kind)["count"].to_list() == [count]


def test_samples_of_another_gpu_and_linked_files_are_not_taken(tmp_path: Path) -> None:
    path, start, _ = made_run(tmp_path)
    (path.parent / FILE).write_text(line(start, metrics(2100), pci="0000:ff:00.0"))
    run = open_run(path)
    assert monitors(run).is_empty()
    assert run.losses.filter(kind="samples_of_other_gpu").height == 1
    outside = tmp_path / "elsewhere.jsonl"
    (path.parent / FILE).rename(outside)
    (path.parent / FILE).symlink_to(outside)
    assert not open_run(path).losses.filter(kind="samples_of_other_gpu").height


def test_damaged_files_give_rows_and_losses(tmp_path: Path) -> None:
    path, start, end = made_run(tmp_path)
    whole = "\n".join(line(start + (end - start) * each // 8, metrics(2000)) for each in range(8)).encode()
    for seed in range(40):
        (path.parent / FILE).write_bytes(mutated_bytes(random.Random(seed), whole))
        run = open_run(path)
        rows = monitors(run)
        assert rows["value"].is_finite().all()
        assert (rows["end_ns"] >= rows["start_ns"]).all()
