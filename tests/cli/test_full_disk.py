"""A disk that is full, for everything that writes: status 74, the path, and nothing is left.

A limit on the size of files acts like one: the write that would exceed it is refused. It works without privileges.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import CounterCapture, write_counters
from synth.rocpd import write_rocpd
from synth.workload import Workload
from tests.cli.in_process import Done, call
from wavewright.cli.kit.run_files import FORMATS
from wavewright.errors import MissingToolError
from wavewright.page.assets import page_folder

ALMOST_NOTHING = 40
"""Bytes that are less than any output."""
SOMETHING = 3000


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    write_rocpd(folder / "results.db", Workload(dispatches=120, ranks=2, counters=2))
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), folder / "trace")
    write_counters(folder / "counters", CounterCapture("gfx942"))
    return {"run": folder / "results.db", "trace": folder / "trace", "counters": folder / "counters"}


WRITERS: dict[str, tuple[str, ...]] = {
    **{f"convert {name}": ("convert", "run", "-f", name, "-o", "OUT") for name in sorted(FORMATS)},
    "merge": ("merge", "run", "-o", "OUT"),
    "split": ("split", "run", "--by", "rank", "-o", "OUT"),
    "window": ("window", "run", "--time", "0%:90%", "-o", "OUT"),
    "decode ui_output": ("decode", "trace", "--format", "ui_output", "-o", "OUT"),
    "decode parquet": ("decode", "trace", "--format", "parquet", "-o", "OUT"),
    "decode json": ("decode", "trace", "--format", "json", "-o", "OUT"),
    "convert html of a trace": ("convert", "trace", "-f", "html", "-o", "OUT"),
    "convert html of counters": ("convert", "counters", "-f", "html", "-o", "OUT"),
    "counters --csv-dir": ("counters", "counters", "--csv-dir", "OUT"),
    "counters --plan": ("counters", "counters", "--plan", "-o", "OUT.json"),
    "roofline": ("roofline", "counters", "-o", "OUT.svg"),
    "memory-chart": ("memory-chart", "counters", "-o", "OUT.svg"),
    "summary --rocpd-csv": ("summary", "run", "--rocpd-csv", "OUT"),
}
"""Every verb that writes, in every form; pictures are the same bytes for all of them."""
SLOW = ("convert html", "convert html of a trace", "convert html of counters", "convert otf2")
GROWING = ("convert arrow", "convert parquet", "convert rocpd", "merge", "decode parquet")
"""Libraries write these piece by piece, so that they fail somewhere in the middle, too."""


@contextmanager
def full_disk(byte_count: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte_count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def cases() -> Iterator[Any]:
    for name in WRITERS:
        yield pytest.param(name, ALMOST_NOTHING, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in GROWING:
        yield name, SOMETHING


@pytest.mark.slow
@pytest.mark.some_cases(8)
@pytest.mark.parametrize(("name", "byte_count"), list(cases()))
def test_nothing_is_left(name: str, byte_count: int, inputs: dict[str, Path], tmp_path: Path) -> None:
    arguments = asked(name, inputs, tmp_path / "made")
    if name == "convert otf2":  # its library writes to the terminal, and complains once more when it is unloaded
        done = in_a_process(arguments, byte_count)
    else:
        with full_disk(byte_count):
            done = call(*arguments)
    assert done.status == 74, done.stderr
    assert "cannot write the output" in done.stderr
    assert str(tmp_path) in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def asked(name: str, inputs: dict[str, Path], out: Path) -> list[str]:
    if "html" in name and not has_page():
        pytest.skip("the viewer's page is not built here")
    if name == "convert otf2":
        pytest.importorskip("otf2")
    verb, source, *options = WRITERS[name]
    return [verb, str(inputs[source]), *(option.replace("OUT", str(out)) for option in options)]


def has_page() -> bool:
    try:
        return page_folder().is_dir()
    except MissingToolError:
        return False


def in_a_process(arguments: Sequence[str], byte_count: int) -> Done:
    program = (
        "import resource, wavewright.cli\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({byte_count}, {byte_count}))\n"
        "wavewright.cli.program()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WRITERS if "html" not in name])
def test_a_small_file_system(name: str, inputs: dict[str, Path], tmp_path: Path) -> None:
    """A real one, where one can be made: without it the limits above have to do."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", place], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        done = in_a_process(asked(name, inputs, place / "made"), resource.RLIM_INFINITY)
        assert done.status == 74, done.stderr
        assert str(place) in done.stderr
        assert list(place.iterdir()) == []
    finally:
        subprocess.run(["umount", place], check=True)
