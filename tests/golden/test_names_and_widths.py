"""Text about public runs at 80 and 120 columns: nothing too wide, headings and bars whole, names told apart."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.cli.in_process import call
from tests.kit.opened import open_run
from tests.kit.sampling import covering
from wavewright.analysis.run.calls.kernel_names import short_names

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = (
    "kineto-amd/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "rpd/mytrace.rpd.gz",
    "kineto-multirank-2of4",
    "rocprofv3-mi350x-flydsl",
    "gfx1151-rocprofv3-llama",
    "att-mi300x-bmm/c03/raw",
)
VERBS = ("summary", "top", "busy", "gaps", "overlap", "ranks", "regions")
#: Words of headings that are long enough to be cut.
HEADINGS = ("dispatches", "computation", "communication", "exposed", "exclusive", "inclusive", "longest", "median")
BAR_END = re.compile("[█▏▎▍▌▋▊▉]…")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("name", "shown"), covering(INPUTS, [(verb, str(width)) for width in (80, 120) for verb in VERBS])
)
def test_tables_fit(shared: Path, name: str, shown: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    verb, width = shown
    monkeypatch.setenv("COLUMNS", width)
    done = call(verb, shared / "data" / name, "--jobs", 1, "--top", 8)
    assert done.status == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= int(width)
    assert not [line for line in lines if BAR_END.search(line)]
    cut = {word[:size] + "…" for word in HEADINGS for size in range(2, len(word))}
    assert not [line for line in lines if cut & set(line.split()) and not re.search(r"\d", line)]


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("name", INPUTS)
def test_no_two_kernels_have_one_name(shared: Path, name: str) -> None:
    names = open_run(shared / "data" / name).read("dispatches", ["name"])["name"].unique().cast(pl.String).to_list()
    for width in (16, 24, 36, 80):
        short = short_names(names, width)
        assert len(set(short.values())) == len(names)
        assert max(map(len, short.values())) <= width
    assert sum("#" in text for text in short.values()) <= 1  # at 80 columns


def test_kernels_of_vllm_are_named(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    trace = shared / "data/rpd/mytrace.rpd.gz"
    done = call("top", trace, "--jobs", 1, "--top", 0)
    assert "enable_if" not in done.stdout
    assert "_ZN" not in done.stdout
    for name in ("vllm::scaled_fused_add_rms_norm_kernel", "vllm::scaled_act_and_mul_kernel", "ck_tile::kentry"):
        assert name in done.stdout
    rows = json.loads(call("top", trace, "--jobs", 1, "--json").stdout)["things"]["rows"]
    recorded = {row["name"] for row in rows}
    assert any(name.startswith("std::enable_if<(((8)>(0)))&&") for name in recorded)
    assert any(name.startswith("_ZN7ck_tile6kentryI") for name in recorded)


@pytest.mark.slow
def test_full_names(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    trace = shared / "data" / INPUTS[0]
    full = call("top", trace, "--jobs", 1, "--top", 3, "--names", "full").stdout
    assert "".join(full.split()).count("_WSGRA0_WSGRB0_WS64_WG32_8_1") == 3  # the headline and two rows
    assert max(map(len, full.splitlines())) <= 80
    assert "_WSGRA0" not in call("top", trace, "--jobs", 1, "--top", 3).stdout


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize(
    ("name", "processes", "gpus"),
    [("rocprofv3-mi350x-flydsl", 13, 13), ("gfx1151-rocprofv3-llama", 3, 1), ("rpd/mytrace.rpd.gz", 1, 1)],
)
def test_verbs_count_alike(shared: Path, name: str, processes: int, gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    folder = shared / "data" / name
    info, summary, busy = (
        " ".join(call(*verb, folder).stdout.split())
        for verb in (("info",), ("summary", "--jobs", 1), ("busy", "--jobs", 1))
    )
    plural = "es" if processes > 1 else ""
    place = f" in {processes} files" if processes > 1 else ""
    assert f" {processes} process{plural}{place}; " in info
    assert f" {gpus} GPU{'s' if gpus > 1 else ''} had work" in info
    assert f" {processes} process{plural}{place}, {gpus} GPU{'s' if gpus > 1 else ''} used" in summary
    assert busy.startswith(f"{gpus} GPUs on {gpus} nodes are busy" if gpus > 1 else "GPU ")


@pytest.mark.slow
def test_files_are_told_apart(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    folder = shared / "data/rocprofv3-mi350x-flydsl"
    whole = json.loads(call("top", folder, "--jobs", 1, "--json").stdout)
    by_file: dict[str, Any] = json.loads(call("top", folder, "--jobs", 1, "--by", "file", "--json").stdout)
    rows = by_file["things"]["rows"]
    assert len({row["path"] for row in rows}) == 13
    assert sum(row["total_ns"] for row in rows) == whole["total_ns"] == by_file["total_ns"]
    assert sum(row["share"] for row in rows) == pytest.approx(13)
    assert {row["path"] for row in whole["things"]["rows"]} == {None}
    summary = json.loads(call("summary", folder, "--jobs", 1, "--by", "file", "--json").stdout)
    assert sum(row["total_ns"] for row in summary["domains"]["rows"]) == whole["total_ns"]
    text = call("summary", folder, "--jobs", 1, "--by", "file").stdout
    assert str(shared) not in text
    assert "moe_reduce" in text
