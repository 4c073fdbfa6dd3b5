"""`arguments.json` beside a real capture: the answer of a kerncap folder with these bytes; mistakes in words."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

import wavewright
from tests.cli.in_process import call

SEGMENT = struct.pack("<3Q10I2Q", 1 << 44, 2 << 44, 3 << 44, 144, 144, 144, 144, 144, 144, 1, 1, 1, 1, 0, 0)


@pytest.fixture(scope="module")
def capture(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capture") / "raw"
    shutil.copytree(shared / "data/att-mi300x-bmm/c08/raw", folder, ignore=shutil.ignore_patterns("*.db"))
    return folder


@pytest.fixture(scope="module")
def kernel(capture: Path) -> str:
    trace = wavewright.open(capture)
    [number] = trace.waves["kernel"].drop_nulls().unique().to_list()
    found = trace.compiled_kernel(number)
    assert found is not None
    return found.name


def write(capture: Path, kernel: str, **changes: Any) -> None:
    entry = {"kernel": kernel, "workgroup": [256, 1, 1], "grid": [1024, 1, 1], "segment": SEGMENT.hex(), **changes}
    document = {"format": "wavewright.arguments", "version": 1, "dispatches": [entry]}
    (capture / "arguments.json").write_text(json.dumps(document))


def rows(*arguments: object) -> Any:
    done = call("lanes", *arguments, "--json")
    assert done.status == 0, done.stderr
    return json.loads(done.stdout)["rows"]


@pytest.mark.slow
def test_the_answer_is_that_of_kerncap(capture: Path, kernel: str, tmp_path: Path) -> None:
    (capture / "arguments.json").unlink(missing_ok=True)
    without = rows(capture)
    dispatch = {"mangled_name": kernel, "grid": [1024, 1, 1], "block": [256, 1, 1], "kernarg_size": len(SEGMENT)}
    (tmp_path / "dispatch.json").write_text(json.dumps(dispatch))
    (tmp_path / "kernarg.bin").write_bytes(SEGMENT)
    expected = rows(capture, "--kerncap", tmp_path)
    write(capture, kernel)
    assert rows(capture) == expected != without
    assert "arguments from " in call("lanes", capture).stderr
    write(capture, "another_kernel")
    assert rows(capture) == without


def test_mistakes_are_told(capture: Path, kernel: str) -> None:
    for changes, words in (
        ({"segment": "0g"}, "is not hexadecimal"),
        ({"segment": "00"}, "arguments"),
        ({"target": "gfx90a"}, "this is a dispatch on gfx90a"),
        ({"grid": [-1, 1, 1]}, "cannot be read"),
        ({"surprise": 1}, "cannot be read"),
    ):
        write(capture, kernel, **changes)
        done = call("lanes", capture)
        assert done.status in (2, 3) and words in done.stderr, (changes, done.stderr)
        assert "Traceback" not in done.stderr
    entry = {"kernel": kernel, "workgroup": [256, 1, 1], "grid": [1024, 1, 1]}
    both = [entry | {"segment": data.hex()} for data in (SEGMENT, SEGMENT[::-1])]
    document = {"format": "wavewright.arguments", "version": 1, "dispatches": both}
    (capture / "arguments.json").write_text(json.dumps(document))
    assert "2 dispatches of the traced kernel differ" in call("lanes", capture).stderr
    for each, number in zip(both, (3, 4), strict=True):
        each["dispatch"] = number
    (capture / "arguments.json").write_text(json.dumps(document))
    assert call("lanes", capture, "--dispatch", 3).status == 0
    (capture / "arguments.json").write_bytes(b"[" * 100_000)
    assert call("lanes", capture).status == 3
