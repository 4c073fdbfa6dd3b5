"""Too few threads, descriptors, too little memory: one sentence and status 71, before anything can hang or abort."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from wavewright.cli.kit.limits import Granted, _waiting_stack_bytes, limit_behind, pool_size, threads_wanted
from wavewright.errors import LimitError

PLENTY = Granted(threads=None, address_space=None, descriptors=None, workers=4)
LIMITED = """
import resource, sys
name, value = sys.argv[1], int(sys.argv[2])
resource.setrlimit(getattr(resource, name), (value, value))
sys.argv = ["wavewright", *sys.argv[3:]]
from wavewright.cli import program
program()
"""


def _limited(name: str, value: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, name, str(value), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("RLIMIT_AS", 400_000_000, "memory"), ("RLIMIT_AS", 1_000_000_000, "memory"),
        ("RLIMIT_NOFILE", 12, "files"), ("RLIMIT_NOFILE", 24, "files"),
    ],
)  # fmt: skip
def test_what_is_granted_is_looked_at_before_the_work(name: str, value: int, words: str) -> None:
    done = _limited(name, value, "metrics")
    assert (done.returncode, done.stdout) == (71, "")
    assert words in done.stderr
    assert "ulimit" in done.stderr
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_limit_of_processes_that_suffices_stops_nobody() -> None:
    done = _limited("RLIMIT_NPROC", 8_000, "metrics")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("page_bytes", "least_bytes", "stack_bytes"),
    [
        (4 << 10, 16 << 10, 64 << 10),  # x86_64
        (4 << 10, 128 << 10, 128 << 10),  # aarch64
        (64 << 10, 128 << 10, 128 << 10),  # aarch64 with large pages
        (64 << 10, 75_264, 128 << 10),  # the least is no number of pages
    ],
)
def test_stacks_are_as_large_as_the_platform_wants_them(
    monkeypatch: pytest.MonkeyPatch, page_bytes: int, least_bytes: int, stack_bytes: int
) -> None:
    platform = {"SC_PAGE_SIZE": page_bytes, "SC_THREAD_STACK_MIN": least_bytes}
    monkeypatch.setattr(os, "sysconf", platform.__getitem__)
    assert _waiting_stack_bytes() == stack_bytes


def test_help_needs_nothing() -> None:
    done = _limited("RLIMIT_NOFILE", 24, "metrics", "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_the_pool_is_as_large_as_fits() -> None:
    assert pool_size(PLENTY) == 4
    assert pool_size(PLENTY._replace(threads=threads_wanted(4))) == 4
    assert pool_size(PLENTY._replace(threads=threads_wanted(4) - 1)) == 1
    assert pool_size(PLENTY._replace(threads=threads_wanted(1))) == 1
    assert pool_size(PLENTY._replace(address_space=2_000_000_000)) == 1
    assert pool_size(PLENTY._replace(address_space=8_000_000_000)) == 4


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ({"threads": threads_wanted(1) - 1}, "threads can be started"), ({"threads": 0}, "threads can be started"),
        ({"address_space": 0}, "memory"), ({"descriptors": 3}, "files"),
    ],
)  # fmt: skip
def test_too_little_is_said(short: dict[str, int], words: str) -> None:
    with pytest.raises(LimitError, match=words) as caught:
        pool_size(PLENTY._replace(**short))
    assert "ulimit" in caught.value.advice


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(), OSError(errno.EMFILE, "Too many open files", "x"), OSError(errno.ENFILE, "x"),
        OSError(errno.ENOMEM, "x"), RuntimeError("can't start new thread"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        type("PanicException", (BaseException,), {})("OS can't spawn worker thread: Resource temporarily unavailable"),
    ],
)  # fmt: skip
def test_a_limit_that_is_met_later_is_no_bug(error: BaseException) -> None:
    found = limit_behind(error)
    assert found is not None
    assert found.exit_code == 71


@pytest.mark.parametrize("error", [ValueError("x"), RuntimeError("x"), OSError(errno.ENOENT, "x", "y"), KeyError("a")])
def test_other_errors_are_no_limits(error: BaseException) -> None:
    assert limit_behind(error) is None
