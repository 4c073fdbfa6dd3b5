"""Text that stops being JSON: refused early, and never many times as large in memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.readers.run.chrome import read_kineto
from wavewright.readers.run.chrome.events import read_chrome
from wavewright.readers.run.rocprofv3.json import read_rocprofv3_json

HEAD = b'{"traceEvents":['
EVENT = b'{"ph": "X", "name": "k", "ts": 1, "dur": 2, "pid": 1, "tid": 1}'
PEAK = """
import sys
from pathlib import Path
from wavewright.errors import NotATraceError
from wavewright.readers.run.chrome.events import read_chrome

def peak():
    # of this program alone: getrusage would count what its parent held before it began
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))

try:
    read_chrome(Path(sys.argv[1]), [])
except NotATraceError:
    pass
before = peak()
try:
    read_chrome(Path(sys.argv[2]), [])
except NotATraceError as error:
    print(error, file=sys.stderr)
print(peak() - before)
"""


def _growth(folder: Path, file: Path) -> tuple[int, str]:
    """By how many bytes a program grows that reads the file, beyond what a small file takes; and what it says."""
    if sys.platform != "linux":
        pytest.skip("memory is measured by /proc")
    (folder / "small.json").write_bytes(HEAD + b"a")
    command = [sys.executable, "-c", PEAK, str(folder / "small.json"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return int(done.stdout), done.stderr


def test_zeros_are_not_read_to_their_end(tmp_path: Path) -> None:
    file = tmp_path / "zeros.json"
    file.write_bytes(HEAD)
    with file.open("r+b") as stream:
        stream.truncate(100 << 20)
    grown, said = _growth(tmp_path, file)
    assert grown < 20 << 20
    assert "not JSON from byte 16 on" in said


def test_other_text_is_held_twice_at_most(tmp_path: Path) -> None:
    size = 48 << 20
    file = tmp_path / "letters.json"
    file.write_bytes(HEAD + b"a" * size)
    grown, said = _growth(tmp_path, file)
    assert grown < 2.5 * size
    assert "not a complete Chrome trace" in said


@pytest.mark.parametrize("read", [read_kineto, read_rocprofv3_json])
@pytest.mark.parametrize("is_packed", [False, True])
def test_zeros_in_any_json(tmp_path: Path, read: object, is_packed: bool) -> None:
    file = tmp_path / "run.json"
    text = HEAD + EVENT + b",\x00\x00"
    file.write_bytes(gzip.compress(text) if is_packed else text)
    with pytest.raises(NotATraceError, match=f"byte {len(text) - 2:,} on"):
        read(file)  # type: ignore[operator]


@pytest.mark.parametrize("text", [b" [%s]", b"[%s,\n", b"[%s", HEAD + b"%s", HEAD + b"%s]}", b'[%s, {"ts": NaN}]'])
def test_ends_that_are_missing_are_put_there(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(text % EVENT)
    losses: list[Loss] = []
    assert len(read_chrome(file, losses).events) == 1 + text.count(b"NaN")
    is_whole = text.rstrip().endswith((b"]", b"}")) and text.count(b"[") == text.count(b"]")
    assert [loss.kind for loss in losses] == ([] if is_whole else ["cut_file"])


@pytest.mark.parametrize("text", [b"", b"  \n ", b"\n" * 5000])
def test_nothing_at_all(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(text)
    with pytest.raises(NotATraceError, match="empty"):
        read_chrome(file, [])
