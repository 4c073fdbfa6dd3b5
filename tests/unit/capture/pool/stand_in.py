"""A machine with GPUs that do not exist: a made-up topology, a profiler of a few lines of shell, and its programs.

Each program takes a lock of the test for the GPU that it sees, which the kernel frees with the last of its processes:
whoever finds it taken has met another program on the same GPU, and writes that down.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from synth.profiler_output import write_kernel_stats, write_kernel_trace
from wavewright.capture.pool.folder import job_folder, read_plan
from wavewright.capture.rocprofv3.releases import assumed

MARK = "WAVEWRIGHT_TEST"
KERNEL = "saxpy"

_PROFILER = """\
#!/bin/sh
# Leaves the data of a discovery, and becomes the program.
case "$1" in
--version) echo "    version: 1.1.0"; echo "    rocm_version: 7.2.0"; exit 0 ;;
--help) cat "$STAND_IN/help"; exit 0 ;;
esac
folder=.
while [ "$1" != -- ]; do
    case "$1" in -d | --output-directory) folder=$2 ;; esac
    shift
done
shift
mkdir -p "$folder"
cp -r "$STAND_IN/data/." "$folder/"
exec "$@"
"""

_PROGRAM = """\
#!/bin/sh
# NAME SECONDS: uses the GPU that it sees for some time.
exec 9>"$STAND_IN/gpus/$ROCR_VISIBLE_DEVICES"
flock -n 9 || echo "$1 on $ROCR_VISIBLE_DEVICES" >>"$STAND_IN/overlaps"
echo "start $1 $ROCR_VISIBLE_DEVICES $(date +%s.%N)" >>"$STAND_IN/uses"
sleep "$2"
echo "end $1 $ROCR_VISIBLE_DEVICES $(date +%s.%N)" >>"$STAND_IN/uses"
"""

_PROPERTIES = """\
simd_count 1216
simd_per_cu 4
array_count 32
simd_arrays_per_engine 1
num_xcc 8
max_waves_per_simd 8
wave_front_size 64
gfx_target_version 90402
location_id {location}
domain 0
unique_id {unique_id}
"""


@dataclass
class StandIn:
    """The machine, and a pool on it."""

    root: Path
    gpu_count: int = 8
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        for name in ("gpus", "data", "nodes", "locks"):
            (self.root / name).mkdir(parents=True)
        for node in range(self.gpu_count + 1):
            folder = self.root / "nodes" / str(node)
            folder.mkdir()
            text = _PROPERTIES.format(location=(node << 8), unique_id=1000 + node) if node else "simd_count 0\n"
            (folder / "properties").write_text(text)
            (folder / "gpu_id").write_text(str(100 * node))
        write_kernel_stats(self.root / "data", {KERNEL: (10, 20_000)}, prefix="4711/discover")
        write_kernel_trace(self.root / "data", [(KERNEL, 4096)] * 10, prefix="4711/discover")
        (self.root / "help").write_text("".join(f"  {name} X\n" for name in sorted(assumed("7.2.0").options)))
        for name, text in (("rocprofv3", _PROFILER), ("program", _PROGRAM)):
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755)

    @property
    def folder(self) -> Path:
        """Of the pool."""
        return self.root / "pool"

    @property
    def variables(self) -> dict[str, str]:
        return {
            **os.environ,
            MARK: self.mark,
            "STAND_IN": str(self.root),
            "ROCPROFILER_KFD_TOPOLOGY": str(self.root / "nodes"),
            "WAVEWRIGHT_LOCK_DIR": str(self.root / "locks"),
            "POLARS_MAX_THREADS": "1",
        }

    def write_jobs(self, count: int, seconds: float) -> Path:
        path = self.root / "JOBS.toml"
        jobs = "".join(
            f'[[job]]\nname = "j{n}"\nprogram = ["{self.root}/program", "j{n}", "{seconds}"]\n' for n in range(count)
        )
        defaults = '[defaults]\nkind = "discover"\nseconds = 1000\ngrace_seconds = 2\ndisk = 1\n'
        path.write_text(defaults + jobs)
        return path

    def words(self, *options: str) -> list[str]:
        ours = ["-m", "wavewright", "capture", "pool", str(self.root / "JOBS.toml"), "--resume", "-o", str(self.folder)]
        return [sys.executable, *ours, "--rocprofv3", str(self.root / "rocprofv3"), "--wait", "1000", *options]

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """A pool, whose output goes to a file."""
        with (self.root / "output").open("ab") as output:
            return subprocess.Popen(
                self.words(*options), env=self.variables, stdout=output, stderr=output, cwd=self.root
            )

    def processes(self) -> dict[int, str]:
        """Everything that runs because of the pool, with its command line."""
        ids = [job.id for job in read_plan(self.folder)] if (self.folder / "plan.jsonl").exists() else []
        running = {}
        for name in os.listdir("/proc"):  # noqa: PTH208 - thousands of short names
            if not name.isdigit() or int(name) == os.getpid():
                continue
            with suppress(OSError):
                line = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                is_guard = "guard.py" in line and any(each in line for each in ids)
                if line and (is_guard or f"{MARK}={self.mark}".encode() in Path(f"/proc/{name}/environ").read_bytes()):
                    running[int(name)] = line
        return running

    def kill(self, *parts: str) -> None:
        """Kill everything whose command line has one of the parts, at once; without parts everything."""
        for pid, line in self.processes().items():
            if not parts or any(part in line for part in parts):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def wait_for_none(self) -> dict[int, str]:
        """What is left of the pool after a long time."""
        until = time.monotonic() + 600
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def judged_counts(self) -> dict[str, tuple[int, int]]:
        """By job: how many of its attempts were judged, and whether it has finished."""
        counts = {}
        for job in read_plan(self.folder):
            place = job_folder(self.folder, job.id)
            judged = list(place.glob("attempts/*/judgement.json"))
            counts[job.name] = (len(judged), int((place / "result.json").is_file()))
        return counts

    def overlaps(self) -> list[str]:
        """Programs that met another one on their GPU."""
        path = self.root / "overlaps"
        return path.read_text().splitlines() if path.exists() else []

    def uses(self) -> list[tuple[str, str, str, float]]:
        """start or end, job, GPU, time."""
        path = self.root / "uses"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(word, job, gpu, float(when)) for word, job, gpu, when in map(str.split, lines)]
