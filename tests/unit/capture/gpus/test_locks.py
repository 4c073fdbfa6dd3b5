"""Locks of GPUs: between processes, between users, and against what others lay into the folder."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from wavewright.capture.gpus import locks as gpu_locks
from wavewright.capture.gpus.locks import Lock, holder_of, lock_folder, lock_path, try_lock
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.machines.runner import inherited_descriptors
from wavewright.errors import BusyError, OutputError, UsageError

NOBODY = 65534
IS_ROOT = os.geteuid() == 0


@contextmanager
def locked(gpu: Gpu, host: str, variables: Mapping[str, str], *, command: str = "") -> Iterator[Lock]:
    """The lock of a GPU, for the block."""
    path = lock_path(lock_folder(variables), host, gpu.device)
    lock = try_lock(path, command=command)
    if lock is None:
        raise BusyError(f"locked by {holder_of(path)}")
    try:
        yield lock
    finally:
        lock.release()


def gpu(index: int = 0, pci: str = "") -> Gpu:
    return Gpu(
        index=index,
        node=index + 2,
        gpu_id=100 + index,
        target="gfx942",
        pci=pci or f"0000:{index:02x}:00.0",
        cu_count=304,
        se_count=32,
        simds_per_cu=4,
        waves_per_simd=8,
        wave_size=64,
    )


def in_a_child(path: Path, *, uid: int | None = None) -> str:
    """What another process (of another user) gets: locked, busy, or the error."""
    words = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from wavewright.capture.gpus.locks import try_lock\n"
        "from wavewright.errors import BusyError\n"
        f"uid = {uid!r}\n"
        "if uid is not None: os.setgid(uid); os.setuid(uid)\n"
        "try: print('locked' if try_lock(Path(sys.argv[1])) else 'busy')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", words, path], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shared folder of the machine, moved to where this test may write."""
    parent = tmp_path_factory.mktemp("locks")
    parent.chmod(0o1777)
    for above in parent.parents[:3]:  # pytest-xdist has a folder per worker
        if above.stat().st_uid == os.geteuid() and not above.stat().st_mode & stat.S_ISVTX:
            above.chmod(0o755)
    monkeypatch.setattr(gpu_locks, "SHARED_FOLDER", str(parent / "shared"))
    return lock_folder({})


def test_second_process_is_refused_and_told_who(folder: Path) -> None:
    path = lock_path(folder, "node", gpu().device)
    with locked(gpu(), "node", {}, command="capture one"):
        assert in_a_child(path) == "busy"
        holder = holder_of(path)
        assert holder is not None
        assert (holder.pid, holder.command) == (os.getpid(), "capture one")
        with pytest.raises(BusyError, match=rf"process {os.getpid()}.*capture one"), locked(gpu(), "node", {}):
            pytest.fail("two have it")
    assert in_a_child(path) == "locked"
    assert holder_of(path) is None


def test_modes(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
    before = os.umask(0o077)
    try:
        with locked(gpu(), "node", {}) as lock:
            assert stat.S_IMODE(lock.path.stat().st_mode) == 0o666
    finally:
        os.umask(before)


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_two_users(folder: Path) -> None:
    path = lock_path(folder, "node", "GPU-1")
    assert in_a_child(path, uid=NOBODY) == "locked"
    assert path.stat().st_uid == NOBODY
    lock = try_lock(path)
    assert lock is not None
    assert in_a_child(path, uid=NOBODY) == "busy"
    lock.release()
    assert in_a_child(path, uid=NOBODY) == "locked"
    path.chmod(0o600)  # a file of another user that cannot even be read
    os.chown(path, 0, 0)
    assert in_a_child(path, uid=NOBODY).startswith("OutputError")
    path.chmod(0o644)  # it can be locked, though nothing can be written into it
    assert in_a_child(path, uid=NOBODY) == "locked"


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_folder_of_another_user(folder: Path) -> None:
    os.chown(folder, NOBODY, NOBODY)
    assert lock_folder({}) == folder
    folder.chmod(0o755)
    with pytest.raises(UsageError, match="others may not write"):
        lock_folder({})


def test_what_others_lay_there(folder: Path) -> None:
    precious = folder.parent / "precious"
    precious.write_text("do not touch")
    for kind in ("link", "second name", "pipe", "folder", "link to nothing"):
        path = folder / f"{kind}.lock"
        if kind == "link":
            path.symlink_to(precious)
        elif kind == "second name":
            path.hardlink_to(precious)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to(folder.parent / "nothing")
        with pytest.raises(UsageError, match="not a lock file"):
            try_lock(path)
    assert precious.read_text() == "do not touch"
    assert not (folder.parent / "nothing").exists()
    assert not inherited_descriptors


@pytest.mark.parametrize("content", [b"", b"\xff" * 9000, b"[1]", b'{"pid": "x"}', b'{"pid": 5', b"9" * 5000])
def test_content_of_strangers(folder: Path, content: bytes) -> None:
    path = folder / "node-GPU-2.lock"
    path.write_bytes(content)
    stranger = os.open(path, os.O_RDONLY)
    fcntl.flock(stranger, fcntl.LOCK_EX)
    assert str(holder_of(path)) == "somebody who left no name"
    assert try_lock(path) is None
    os.close(stranger)
    lock = try_lock(path)
    assert lock is not None
    assert json.loads(path.read_bytes())["pid"] == os.getpid()
    lock.release()


def test_folder_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setattr(gpu_locks, "SHARED_FOLDER", str(tmp_path / "link"))
    with pytest.raises(UsageError, match="not a link"):
        lock_folder({})
    for chosen in (str(file), str(file / "below")):
        with pytest.raises(UsageError, match="need a folder"):
            lock_folder({"WAVEWRIGHT_LOCK_DIR": chosen})
    with pytest.raises(OutputError):
        lock_folder({"WAVEWRIGHT_LOCK_DIR": "/proc/nothing/here"})
    made = lock_folder({"WAVEWRIGHT_LOCK_DIR": str(tmp_path / "a" / "b")})
    assert stat.S_IMODE(made.stat().st_mode) == 0o1777
    made.chmod(0o755)  # the owner's choice stays
    assert stat.S_IMODE(lock_folder({"WAVEWRIGHT_LOCK_DIR": str(made)}).stat().st_mode) == 0o755


def test_file_system_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(UsageError, match=r"has no locks.*WAVEWRIGHT_LOCK_DIR"):
        try_lock(folder / "a.lock")


def test_removed_file_does_not_count(folder: Path) -> None:
    path = folder / "node-GPU-3.lock"
    first = try_lock(path)
    path.unlink()
    second = try_lock(path)  # who removes lock files gives the GPU away; the new file is a lock again
    assert first is not None
    assert second is not None
    assert try_lock(path) is None
    first.release()
    assert try_lock(path) is None
    second.release()


def test_names_of_files_stay_inside() -> None:
    assert lock_path(Path("f"), "../../etc", "a/b\n").parent == Path("f")


def test_program_that_outlives_its_supervisor(folder: Path) -> None:
    """It still has the lock until it ends."""
    path = folder / "node-GPU-4.lock"
    supervisor = (
        "import os, subprocess, sys\n"
        "from pathlib import Path\n"
        "from wavewright.capture.gpus.locks import try_lock\n"
        "from wavewright.capture.machines import runner\n"
        "try_lock(Path(sys.argv[1]))\n"
        "words = ['/bin/sh', '-c', 'sleep 60 & wait']\n"
        "fds = tuple(runner.inherited_descriptors)\n"
        "program = subprocess.Popen(words, pass_fds=fds, start_new_session=True)\n"
        "print(program.pid, flush=True)\n"
        "program.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", supervisor, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        program = int(process.stdout.readline())

        process.kill()
        process.wait()
        assert "which is gone" in str(holder_of(path))
        assert try_lock(path) is None
        os.killpg(program, signal.SIGKILL)
    while (lock := try_lock(path)) is None:
        time.sleep(0.01)
    lock.release()
