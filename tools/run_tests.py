"""Run the layers of the suite on all processors, and say at the end how long each took and which tests were slow.

    tools/run_tests.py [--all]     with --all, also what is marked slow, all examples and all replays

Needs nothing but Python: it sets up the rest. `make test` calls it. The C++ tests are built and run beside the others;
pytest keeps one worker more than there are processors. A Python test that fails is run once more by itself at the end:
one that passes then is named UNSTEADY and must be mended, one that fails again fails the suite.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "tests"
_SLOWEST = 20
# Without compiled files, every worker would compile all modules and rewrite all tests again.
_INHERITED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass
class Layer:
    """One command and how long it took."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    is_shown: bool = False  # its output, while it runs; otherwise it stands in `log`, and is printed if it fails
    status: int = 0
    wall_s: float = 0.0
    processor_s: float = 0.0  # with that of the programs which it starts and waits for

    @property
    def log(self) -> Path:
        """Path of the output of a layer that is not shown."""
        return LOGS / f"{self.name}.log"

    def start(self) -> None:
        """Start the command in the background."""
        self._began_s = time.monotonic()
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env={**_INHERITED, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=None if self.is_shown else log,
                stderr=subprocess.STDOUT,
            )

    def finish(self) -> None:
        """Wait for its end, and say how it ended."""
        _, status, used = os.wait4(self._process.pid, 0)
        self.status = self._process.returncode = os.waitstatus_to_exitcode(status)
        self.wall_s = time.monotonic() - self._began_s
        self.processor_s = used.ru_utime + used.ru_stime
        verdict = "passed" if self.status == 0 else f"FAILED with status {self.status}"
        print(f"{self.name}: {verdict} after {self.wall_s / 60:.1f} min", flush=True)
        if self.status != 0 and not self.is_shown:
            print(self.log.read_text(errors="replace"), flush=True)

    def run(self) -> int:
        """Start and finish; the exit status."""
        self.start()
        self.finish()
        return self.status


class PythonTests:
    """pytest over tests/, and what its report says of single tests."""

    def __init__(self, options: Sequence[str], environment: dict[str, str]) -> None:
        self._environment = {"PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1", **environment}
        self._report = LOGS / "pytest.xml"
        # One worker more than processors, because tests of pages and programs wait for these. Tests of one file share
        # what is made for them, so one worker has them all.
        workers = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "--no-loadscope-reorder"]
        self.layer = self._layer("pytest", [*options, *workers, "--junitxml", str(self._report)])
        self.layer.is_shown = True
        self.unsteady: list[str] = []
        self.times_s: dict[str, float] = {}
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def _layer(self, name: str, options: Sequence[str]) -> Layer:
        python = str(ROOT / ".venv" / "bin" / "python")
        cache = f"cache_dir={LOGS / 'cache'}"
        return Layer(name, [python, "-m", "pytest", "-o", cache, *options], self._environment)

    def finish(self) -> int:
        """Wait, read the report, and run once more what failed; the status of the second run if there was one."""
        self.layer.finish()
        failed = self._read()
        self.counts["failed"] = len(failed)
        if not failed:
            return self.layer.status
        again = self._layer("once-more", ["--last-failed", "--last-failed-no-failures", "none", "-v"])
        again.run()
        text = again.log.read_text(errors="replace")
        self.unsteady = sorted({line.split(" ")[0] for line in text.splitlines() if " PASSED" in line})
        self.counts["failed"] -= len(self.unsteady)
        return again.status

    def _read(self) -> list[str]:
        if not self._report.is_file():
            return []
        failed = []
        for case in ET.parse(self._report).iter("testcase"):  # noqa: S314  written by pytest, for us
            name = f"{case.get('classname')}::{case.get('name')}"
            self.times_s[name] = self.times_s.get(name, 0.0) + float(case.get("time", "0"))
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif case.find("skipped") is not None:
                self.counts["skipped"] += 1
            else:
                self.counts["passed"] += 1
        return failed

    def folders(self) -> dict[str, tuple[int, float]]:
        """Per folder of tests/: the number of tests and the sum of their times in seconds."""
        sums: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        for name, seconds in self.times_s.items():
            folder = name.split(".")[1] if "." in name else name
            count, total = sums[folder]
            sums[folder] = (count + 1, total + seconds)
        return dict(sorted(sums.items(), key=lambda entry: -entry[1][1]))

    def slowest(self) -> list[tuple[str, float]]:
        """The slowest tests with their seconds, the slowest first."""
        return sorted(self.times_s.items(), key=lambda entry: -entry[1])[:_SLOWEST]


def main() -> int:
    """Set up, run every layer, print the summary; 0 if everything passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also what is slow: hours")
    is_all = parser.parse_args().all
    LOGS.mkdir(parents=True, exist_ok=True)
    began_s, stolen_s = time.monotonic(), _stolen_s()

    # Packages are fetched while the core is compiled and the page is built.
    set_up = Layer("set-up", ["make", "--jobs=3", "ready-all" if is_all else "installed"])
    if set_up.run() != 0:
        return 1
    core = Layer("core", ["make", "test-core-all" if is_all else "test-core"])
    core.start()
    # The Python tests are compiled on one processor.
    compilation = Layer("compiling", ["make", "ready"])
    compilation.run()
    markers = [] if is_all else ["-m", "not slow"]
    tests = PythonTests([*markers, "tests"], {"WAVEWRIGHT_EXAMPLES": "full"} if is_all else {})
    tests.layer.start()
    core.finish()
    beside = [Layer("page", ["make", "test-page"]), Layer("wheel", ["make", "test-wheel"])]
    for layer in beside:
        layer.run()
    status = tests.finish()
    layers = [set_up, compilation, core, *beside, tests.layer]
    _print_summary(layers, tests, time.monotonic() - began_s, _stolen_s() - stolen_s)
    return 1 if status or any(layer.status for layer in layers if layer is not tests.layer) else 0


def _stolen_s() -> float:
    """Processor seconds that the host of this virtual machine gave to others since it was started; 0 = unknown."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def _print_summary(layers: Sequence[Layer], tests: PythonTests, wall_s: float, stolen_s: float) -> None:
    print("\nlayer           minutes  processor minutes")
    for layer in layers:
        print(f"  {layer.name:<12} {layer.wall_s / 60:8.1f} {layer.processor_s / 60:10.1f}")
    print(f"  {'all':<12} {wall_s / 60:8.1f} {sum(layer.processor_s for layer in layers) / 60:10.1f}")
    print(f"  {'taken by the host':<24} {stolen_s / 60:5.1f}")
    print("\nfolder of tests/  tests  minutes")
    for folder, (count, seconds) in tests.folders().items():
        print(f"  {folder:<14} {count:6} {seconds / 60:8.1f}")
    print(f"\nthe {_SLOWEST} slowest tests, in seconds")
    for name, seconds in tests.slowest():
        print(f"  {seconds:6.1f}  {name}")
    print(f"\nunsteady tests: {len(tests.unsteady)}")
    for name in tests.unsteady:
        print(f"  UNSTEADY {name}")
    counts = tests.counts
    print(f"{counts['passed'] + len(tests.unsteady)} passed, {counts['failed']} failed, {counts['skipped']} skipped")


if __name__ == "__main__":
    sys.exit(main())
