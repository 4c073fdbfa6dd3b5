"""A program that is told to stop: it says so, leaves nothing behind, and its status tells which signal it was.

The signals of these tests are sent by the program itself at a known point, or once it is known to wait.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from synth import Workload, write_rocpd

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
TOLD_BY_A_DESTRUCTOR = """
class Told:
    def __del__(self):  # where Python prints exceptions and goes on
        os.kill(os.getpid(), NUMBER)
"""
IN_AN_IMPORT = f"""
import os, sys
{TOLD_BY_A_DESTRUCTOR}
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "wavewright.cli.kit.io":
            Told()
sys.meta_path.insert(0, Finder())
from wavewright.__main__ import program
program()
"""
IN_AN_OUTPUT = f"""
import os, sys
from pathlib import Path
from wavewright.base import stopping
from wavewright.export.kit.staging import staged
from wavewright.base.scratch import make_scratch
{TOLD_BY_A_DESTRUCTOR}
stopping.watch()
folder, _ = make_scratch()
(folder / "unpacked").write_text("much")
with staged([Path("folder/out")], force=False) as (twin,):
    twin.write_text("half")
    Told()
stopping.leave(0)
"""
IN_PUBLISHING = f"""
import os, sys
from pathlib import Path
from wavewright.base import stopping
from wavewright.export.kit import staging as _staging
{TOLD_BY_A_DESTRUCTOR}
put = _staging._put
def told(twin, target):
    put(twin, target)
    Told()
_staging._put = told
stopping.watch()
with _staging.staged([Path("a"), Path("b")], force=False) as twins:
    for twin in twins:
        twin.write_text("whole")
stopping.leave(0)
"""
WITH_A_CHILD = f"""
import os, sys
from wavewright.base import stopping
from wavewright.codeobj import process as _process
{TOLD_BY_A_DESTRUCTOR}
converse = _process._converse
def told(process, *more):
    print(process.pid, flush=True)
    Told()
    return converse(process, *more)
_process._converse = told
stopping.watch()
_process.run_bounded(["sleep", "600"], b"", idle_s=600, total_s=600, output_limit_bytes=9)
"""
WITH_WORKERS = """
import os, sys, time
from pathlib import Path
from wavewright.base import stopping
from wavewright.cluster.processes import Processes
from wavewright.base.scratch import make_scratch

def wait(item):
    folder, _ = make_scratch()
    (folder / "unpacked").write_text("much")
    Path(item).write_text(str(os.getpid()))
    time.sleep(600)

if __name__ == "__main__":
    stopping.watch()
    Processes(2).run(wait, ["first", "second"], print)
"""


class Place:
    """A folder in which programs run, with one for temporary files beside it."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temporary = folder / "work", folder / "temporary"
        self.work.mkdir()
        self.temporary.mkdir()

    def start(self, *command: object, ignored: int | None = None) -> subprocess.Popen[str]:
        def begin() -> None:  # as from a shell, whatever runs the tests
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)

        return subprocess.Popen(
            [sys.executable, *map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.work,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            preexec_fn=begin,
        )

    def run(self, program: str, *arguments: object, number: int, ignored: int | None = None) -> tuple[int, str, str]:
        """Status, output and talk of a program that stands in a text."""
        process = self.start("-c", program.replace("NUMBER", str(int(number))), *arguments, ignored=ignored)
        output, talk = process.communicate()
        return process.returncode, output, talk

    def left(self) -> list[Path]:
        return [*self.work.iterdir(), *self.temporary.iterdir()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("number", SIGNALS)
def test_in_an_import(place: Place, number: int) -> None:
    assert place.run(IN_AN_IMPORT, "metrics", number=number) == (128 + number, "", "stopped\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_in_an_output(place: Place, number: int) -> None:
    assert place.run(IN_AN_OUTPUT, number=number) == (128 + number, "", "stopped\n")
    assert place.left() == []


def test_an_output_that_is_being_put_into_place_is_put_there_whole(place: Place) -> None:
    assert place.run(IN_PUBLISHING, number=signal.SIGTERM)[::2] == (128 + signal.SIGTERM, "stopped\n")
    assert sorted((path.name, path.read_text()) for path in place.left()) == [("a", "whole"), ("b", "whole")]


def test_what_is_ignored_stays_ignored(place: Place) -> None:
    """As with nohup."""
    status, _, talk = place.run(IN_AN_OUTPUT, number=signal.SIGHUP, ignored=signal.SIGHUP)
    assert (status, talk) == (0, "")
    assert (place.work / "folder/out").read_text() == "half"


def test_without_room_for_a_thread(place: Place) -> None:
    """Then Ctrl-C is an exception, as ever."""
    full = "import threading\ndef refuse(_): raise RuntimeError\nthreading.Thread.start = refuse\n"
    told = full + IN_AN_IMPORT.replace("Told()", "os.kill(os.getpid(), NUMBER)").replace("kit.io", "metrics")
    status, _, talk = place.run(told, "metrics", number=signal.SIGINT)
    assert (status, talk.strip()) == (130, "stopped")


def test_a_child_is_ended(place: Place) -> None:
    status, child, talk = place.run(WITH_A_CHILD, number=signal.SIGTERM)
    assert (status, talk) == (128 + signal.SIGTERM, "stopped\n")
    wait_until(lambda: has_ended(int(child)))


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_workers_end_with_the_program(place: Place, number: int) -> None:
    program = place.work / "program.py"
    program.write_text(WITH_WORKERS)
    process = place.start(program)
    wait_until(lambda: process.poll() is not None or sum(len(text) > 0 for text in texts(place)) == 2)
    process.send_signal(number)
    _, talk = process.communicate()
    assert (process.returncode, talk) == ((-number, "") if number == signal.SIGKILL else (128 + number, "stopped\n"))
    wait_until(lambda: all(has_ended(int(text)) for text in texts(place)))
    assert list(place.temporary.iterdir()) == []


def texts(place: Place) -> list[str]:
    return [(place.work / name).read_text() for name in ("first", "second") if (place.work / name).exists()]


def has_ended(process: int) -> bool:
    """Gone, or a zombie that nobody looks after."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def wait_until(look: Callable[[], bool]) -> None:
    while not look():
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
def test_at_any_moment(place: Place, tmp_path: Path, number: int) -> None:
    """From the first moment on at which the program has its signals in hand."""
    run = tmp_path / "run.db"
    write_rocpd(run, Workload(dispatches=20_000))
    chance = random.Random(int(number))
    for _ in range(25):
        process = place.start("-m", "wavewright", "convert", run, "-f", "parquet", "-o", "out")
        wait_until(lambda: process.poll() is not None or has_in_hand(process.pid, signal.SIGTERM))  # noqa: B023
        time.sleep(chance.uniform(0, 1.5))
        process.send_signal(number)
        _, talk = process.communicate()
        if process.returncode == 0:
            assert [path.name for path in place.left()] == ["out"]
            subprocess.run(["rm", "-r", place.work / "out"], check=True)
        else:
            assert (process.returncode, talk) == (128 + number, "stopped\n")
            assert [path.name for path in place.left()] in ([], ["out"])
            subprocess.run(["rm", "-rf", place.work / "out"], check=True)


def has_in_hand(process: int, number: int) -> bool:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)
