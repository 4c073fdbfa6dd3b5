"""`--dry-run`: what would be run, for every release, on a machine without ROCm and without a GPU."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import call

RELEASES = ("6.2", "6.3", "7.0", "7.11", "7.13", "7.14")
KINDS: dict[str, tuple[str, ...]] = {
    "discover": (),
    "att": ("--kernel", "gemm", "--launch", "7-8"),
    "samples": (),
    "run": (),
}
FIRST = {"att": "7.0", "samples": "6.4"}
"""The first release that has it."""
PROGRAM = ("python", "a b.py", "--size", "$HOME", "--")
MI210 = "data/kfd-topology/mi210/topology/nodes"


def lacks(kind: str, release: str) -> bool:
    first = [int(part) for part in FIRST.get(kind, "0").split(".")]
    return [int(part) for part in release.split(".")] < first


def planned(*words: str) -> list[dict[str, Any]]:
    done = call("capture", *words)
    assert done.status == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["event"] for line in lines} == {"planned"}
    return lines


def commands_in(text: str) -> list[list[str]]:
    """The commands of a report, as a shell would read them."""
    blocks = re.findall(r"^command[^\n]*\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(block.replace("\\\n", " ")) for block in blocks]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_for_every_release(kind: str, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "capture"
    words = (kind, *KINDS[kind], "--dry-run", "--rocm-version", release, "-o", str(folder), "--env", "A=b c")
    if lacks(kind, release):
        done = call("capture", *words, "--", *PROGRAM)
        assert done.status == 2
        assert done.stdout == ""
        assert f"ROCm {FIRST[kind]}" in done.stderr
        return
    (plan,) = planned(*words, "--json", "--", *PROGRAM)
    (command,) = plan["commands"]
    assert command["words"][command["words"].index("--") + 1 :] == list(PROGRAM)
    assert command["variables"]["A"] == "b c"
    assert str(folder / "attempts" / "1" / "raw") in command["words"]
    assert not folder.exists(), "nothing is written"
    if release not in ("6.3", "7.14"):
        return
    done = call("capture", *words, "--", *PROGRAM)
    assert done.status == 0
    assert commands_in(done.stdout) == [shlex.split(command["line"])], "text and JSON are the same command"


def test_a_discovery_comes_first(tmp_path: Path) -> None:
    discovery, traces = planned("att", "--dry-run", "--json", "-o", str(tmp_path / "c"), "--", "./gemm")
    assert (discovery["step"], traces["step"], traces["steps"]) == (1, 2, 2)
    assert "--kernel-trace" in discovery["commands"][0]["words"]
    assert str(tmp_path / "c" / "discovery" / "1" / "raw") in discovery["commands"][0]["words"]
    words = traces["commands"][0]["words"]
    assert words[words.index("--kernel-include-regex") + 1] == "KERNEL"
    assert any("KERNEL and launches 7 8 stand for" in note for note in traces["notes"])


def test_an_earlier_discovery_decides(shared: Path, tmp_path: Path) -> None:
    path = str(shared / "data" / "rocprofv3-mi350x-flydsl" / "hgemm_splitk")
    (plan,) = planned("att", "--discovery", path, "--dry-run", "--json", "-o", str(tmp_path / "c"), "--", "./gemm")
    words = plan["commands"][0]["words"]
    assert words[words.index("--kernel-iteration-range") + 1 :][:2] == ["37", "38"]
    assert words[words.index("--att-shader-engine-mask") + 1] == "0x11111111", "84 workgroups, 256 CUs in 8 XCCs"
    assert words[words.index("--kernel-include-regex") + 1].startswith("hgemm")
    one = planned("att", "--discovery", path, "--one", "--dry-run", "--json", "--", "./gemm")[0]["commands"][0]["words"]
    assert one[one.index("--kernel-iteration-range") + 1 :][:2] == ["38", "--kernel-trace"]
    done = call("capture", "att", "--discovery", path, "--kernel", "hgem_bf16", "--dry-run", "--", "./gemm")
    assert done.status == 2
    assert "no kernel that ran matches the name 'hgem_bf16'" in done.stderr
    assert "hgemm" in done.stderr.splitlines()[1]


def test_the_gpu_of_the_machine_is_planned_for(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPROFILER_KFD_TOPOLOGY", str(shared / MI210))
    (plan,) = planned("discover", "--dry-run", "--json", "--", "./gemm")
    assert plan["commands"][0]["variables"]["ROCR_VISIBLE_DEVICES"] == "0"
    (plan,) = planned("discover", "--gpu", "any", "--dry-run", "--json", "--", "./gemm")
    assert "ROCR_VISIBLE_DEVICES" not in plan["commands"][0]["variables"]
    assert "gfx90a" in call("capture", "discover", "--dry-run", "--attempts", "1", "--", "./gemm").stdout


def test_text_fits_and_commands_are_never_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    program = ["./gemm", "x" * 200, "\x1b[2J"]
    done = call("capture", "run", "--dry-run", "--attempts", "1", "-o", tmp_path / "c", "--", *program)
    assert "x" * 200 in done.stdout
    assert "\x1b" not in done.stdout
    rest = [line for line in done.stdout.splitlines() if "x" * 200 not in line and str(tmp_path) not in line]
    assert max(map(len, rest)) <= 80


def test_retries_that_would_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = call("capture", "att", "--kernel", "gemm", "--launch", "7-8", "--dry-run", "--", "./gemm")
    after = done.stdout[done.stdout.index("then it is judged by the data") :]
    assert "up to 3 times" in after
    for verdict in ("empty", "truncated", "hung"):
        assert re.search(rf"^   {verdict} ", after, re.MULTILINE), after
    assert "a buffer of 512 MiB" in after, "twice the buffer after a truncated trace"
    only = call("capture", "att", "--kernel", "g", "--launch", "7", "--attempts", "1", "--dry-run", "--", "./gemm")
    assert "one attempt" in only.stdout


def test_samples_of_an_old_release_are_by_host_trap() -> None:
    words = planned("samples", "--dry-run", "--rocm-version", "6.4", "--json", "--", "./gemm")[0]["commands"][0][
        "words"
    ]
    assert words[words.index("--pc-sampling-method") + 1] == "host_trap"
