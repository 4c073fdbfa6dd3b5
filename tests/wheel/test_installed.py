"""The installed package, as a user has it: needs nothing of the repository but this file.

`tools/wheel/try_wheel.sh` runs it in bare chroots, and `make test` on the installation of the developer, where what is
about the wheel itself skips.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from importlib.metadata import distribution
from pathlib import Path

import pytest

import wavewright

PACKAGE = Path(wavewright.__file__).parent
PROGRAM = Path(sys.executable).with_name("wavewright")


def call(*arguments: str | Path) -> str:
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def from_wheel() -> None:
    if "site-packages" not in PACKAGE.parts:
        pytest.skip("this installation does not come from a wheel")


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of the demo: 48 waves with 36,192 instructions (src/wavewright/cli/demo.py)."""
    folder = tmp_path_factory.mktemp("demo") / "capture"
    assert "tiled_gemm" in call("demo", "--keep", folder)
    return folder


@pytest.mark.usefixtures("from_wheel")
def test_version_is_that_of_the_metadata() -> None:
    assert call("--version").split() == ["wavewright", distribution("wavewright").version]


@pytest.mark.usefixtures("from_wheel")
def test_notices_are_installed() -> None:
    files = {str(file).partition("/licenses/")[2] for file in distribution("wavewright").files or ()}
    assert {"LICENSE", "THIRD_PARTY_NOTICES.md", "licenses/LLVM.txt", "licenses/nanobind.txt"} <= files
    assert "preact" in (PACKAGE / "_web" / "page.licences.txt").read_text(encoding="utf-8")


def test_a_raw_capture_is_decoded(capture: Path) -> None:
    trace = wavewright.decode(capture)
    assert (trace.waves.height, trace.instructions.height) == (48, 36_192)


def test_without_its_listing_the_code_is_disassembled(capture: Path, tmp_path: Path) -> None:
    """No LLVM is needed: the tables are in the wheel. The listing that comes with the capture was written by LLVM."""
    raw = [file for file in capture.iterdir() if file.is_file() and not file.name.endswith(".isa.tsv")]
    for file in raw:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with_listing, without = wavewright.decode(capture), wavewright.decode(tmp_path)
    assert without.code["text"].to_list() == with_listing.code["text"].to_list()


def test_info_answers_as_json(capture: Path) -> None:
    assert "gfx942" in json.dumps(json.loads(call("info", capture, "--json")))


def test_every_kind_of_demo() -> None:
    assert "dispatches" in call("demo", "--run")
    assert call("demo", "--counters")


def test_a_bad_input_is_one_sentence(tmp_path: Path) -> None:
    """Also: an exception of the core reaches Python as its class, through the runtime that nanobind-backend uses."""
    file = tmp_path / "trace.att"
    file.write_bytes(b"no trace at all")
    done = subprocess.run([PROGRAM, "info", file], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_errors_of_the_core_keep_their_class() -> None:
    from wavewright import _core

    with pytest.raises(TypeError):
        _core.disassemble("no bytes")  # type: ignore[call-arg, arg-type]


def test_the_page_can_be_exported(capture: Path, tmp_path: Path) -> None:
    page = tmp_path / "trace.html"
    call("convert", capture, "--format", "html", "--output", page)
    assert page.stat().st_size > 500_000


def test_the_viewer_serves_the_page(capture: Path) -> None:
    program = [PROGRAM, "open", capture, "--no-browser"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
            with urllib.request.urlopen(address, timeout=300) as answer:  # noqa: S310 (our own server)
                assert b"<script" in answer.read()
        finally:
            server.terminate()
