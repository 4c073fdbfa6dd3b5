"""Run a program that may die, hang or babble, without harm to this one: bounded time, bounded output."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from typing import IO, NamedTuple

from wavewright.base import stopping

_CHUNK_BYTES = 1 << 16
_STDERR_BYTES = 1 << 14


class Outcome(NamedTuple):
    """Output of a program and its end: `failure` is empty when it exited with status 0."""

    stdout: bytes
    stderr: bytes
    failure: str


def run_bounded(argv: list[str], stdin: bytes, *, idle_s: float, total_s: float, output_limit_bytes: int) -> Outcome:
    """Run `argv` (no shell) and collect what it prints, at most `output_limit_bytes` of it.

    A program that prints more, or nothing for `idle_s`, or takes longer than `total_s` altogether, is ended.
    """
    try:
        with stopping.unstopped():
            # Its own session, so that its own children can be ended with it.
            process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
            forget = stopping.add(process.kill)
    except OSError as error:
        return Outcome(b"", b"", f"cannot be started: {error.strerror}")
    try:
        return _converse(process, stdin, idle_s, total_s, output_limit_bytes)
    finally:
        _end(process)
        forget()


def _converse(
    process: subprocess.Popen[bytes], stdin: bytes, idle_s: float, total_s: float, output_limit_bytes: int
) -> Outcome:
    assert process.stdin and process.stdout and process.stderr  # noqa: S101 - all three are pipes
    output: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    unsent = memoryview(stdin)
    last_sign_of_life = start_s = time.monotonic()
    with selectors.DefaultSelector() as selector:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        for stream in output:
            selector.register(stream, selectors.EVENT_READ)
        while any(stream in selector.get_map() for stream in output):
            now = time.monotonic()
            remaining_s = min(last_sign_of_life + idle_s, start_s + total_s) - now
            if remaining_s <= 0:
                return _outcome(process, output, f"no answer for {now - last_sign_of_life:.0f} s")
            for key, _ in selector.select(remaining_s):
                if key.fileobj is process.stdin:
                    unsent = _send(process.stdin, unsent)
                    if not unsent:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                stream = process.stdout if key.fileobj is process.stdout else process.stderr
                chunk = os.read(stream.fileno(), _CHUNK_BYTES)
                last_sign_of_life = time.monotonic()
                if not chunk:
                    selector.unregister(stream)
                elif stream is process.stdout or len(output[stream]) < _STDERR_BYTES:
                    output[stream] += chunk
            if len(output[process.stdout]) > output_limit_bytes:
                return _outcome(process, output, f"more than {output_limit_bytes:,} bytes of output")
    try:
        status = process.wait(timeout=idle_s)
    except subprocess.TimeoutExpired:
        return _outcome(process, output, f"did not end within {idle_s:.0f} s of its last word")
    return _outcome(process, output, _failure_of(status))


def _send(stream: IO[bytes], unsent: memoryview) -> memoryview:
    """Send a part; returns what remains, nothing when the program no longer listens."""
    try:
        return unsent[os.write(stream.fileno(), unsent[:_CHUNK_BYTES]) :] if unsent else unsent
    except BlockingIOError:
        return unsent
    except OSError:
        return memoryview(b"")


def _outcome(process: subprocess.Popen[bytes], output: dict[IO[bytes], bytearray], failure: str) -> Outcome:
    assert process.stdout and process.stderr  # noqa: S101 - both are pipes
    return Outcome(bytes(output[process.stdout]), bytes(output[process.stderr]), failure)


def _failure_of(status: int) -> str:
    if status >= 0:
        return f"exit status {status}" if status else ""
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream and not stream.closed:
            try:
                stream.close()
            except BrokenPipeError:
                continue
