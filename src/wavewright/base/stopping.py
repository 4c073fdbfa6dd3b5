"""End of the program on Ctrl-C, SIGTERM or a closed terminal: what it has begun is cleared away.

A signal arrives at any moment: in an import, in a destructor, in native code that runs for minutes. An exception that
a handler raised there would be late, or be printed and forgotten by whoever called Python. So nothing is raised: a
thread that does nothing else clears away and ends the process. Libraries that use wavewright never call `watch`; for
them an interrupt is the exception that it always is.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_SECONDS = 10.0  #: How long the end waits for an output that is being put into its place.
_RESTORED_TERMINAL = b"\r\x1b[2K\x1b[?25h"  #: Empties the line of a progress display, and shows the cursor that it hid.

_duties: dict[object, Callable[[], None]] = {}
_whole = threading.Lock()
_statuses = {number: 128 + number for number in _SIGNALS}
_is_told = False
_signal_count = 0


def add(action: Callable[[], None]) -> Callable[[], None]:
    """Have `action` done if the program is stopped, the latest first; what is returned takes that back.

    Called inside `unstopped`, together with what makes the action necessary.

    >>> forget = add(lambda: print("gone"))
    >>> clear()
    gone
    >>> forget()
    """
    key = object()
    _duties[key] = action

    def forget() -> None:
        _duties.pop(key, None)

    return forget


@contextmanager
def unstopped() -> Iterator[None]:
    """Finish the block before the program is stopped; do not start it once the program is being stopped.

    For short things only; blocks do not nest.
    """
    if _is_told:
        _wait_for_the_end()
    with _whole:
        yield


def clear() -> None:
    """Do everything that `add` was told."""
    for action in reversed(list(_duties.values())):
        with suppress(Exception):
            action()


@contextmanager
def served_until_interrupt() -> Iterator[None]:
    """While the block runs, Ctrl-C is the way to leave, and no failure."""
    _statuses[signal.SIGINT] = 0
    try:
        yield
    finally:
        _statuses[signal.SIGINT] = 128 + signal.SIGINT


def leave(status: int) -> NoReturn:
    """Clear away and end the process, without Python's own end; if it is being stopped, that ends it."""
    with unstopped():
        clear()
        os._exit(status)


def watch(words: str = "stopped\n") -> None:
    """From now on, signals that tell the program to stop end it: it clears away, says `words`, and leaves with 128 + N.

    Signals that are ignored (nohup) stay ignored. Where there is no room for one more
    thread, everything stays as it is.
    """
    usual = (signal.SIG_DFL, signal.default_int_handler)
    own_signals = [number for number in _SIGNALS if signal.getsignal(number) in usual]
    if not own_signals:
        return
    before = {number: signal.getsignal(number) for number in own_signals}
    for number in own_signals:  # until the thread runs there is nothing to clear away, and nobody needs a traceback
        signal.signal(number, signal.SIG_DFL)
    _open_standard_streams()
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        threading.Thread(target=_end_at_signal, args=(read_end, words), name="stopping", daemon=True).start()
    except RuntimeError:
        for number, handler in before.items():
            signal.signal(number, handler)
        return
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in own_signals:
        signal.signal(number, _note)


def _note(*_: object) -> None:
    """Runs in the main thread, which from here on publishes nothing more and does not leave."""
    global _is_told, _signal_count
    _is_told = True
    _signal_count += 1


def signal_count() -> int:
    """Number of times the program was told to stop: an action that waits for others hurries when it grows."""
    return _signal_count


def _end_at_signal(reading: int, words: str) -> None:
    while signal_bytes := os.read(reading, 64):
        for number in signal_bytes:
            if number in _SIGNALS:
                _end(number, words)


def _end(number: int, words: str) -> NoReturn:
    """No import, no lock of others and no stream of Python: whoever holds them may be waiting for us."""
    global _is_told
    _is_told = True
    _whole.acquire(timeout=_PATIENCE_SECONDS)  # and it is never given back
    with suppress(OSError):
        stderr_copy = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):  # threads whose files vanish now have nothing to say
            os.dup2(nowhere, stream)
    clear()
    with suppress(OSError, NameError):
        is_drawn = os.isatty(stderr_copy) and os.environ.get("TERM", "dumb") != "dumb"
        os.write(stderr_copy, (_RESTORED_TERMINAL if is_drawn and words else b"") + words.encode())
    os._exit(_statuses[signal.Signals(number)])


def _wait_for_the_end() -> NoReturn:
    while True:
        time.sleep(3600)


def _open_standard_streams() -> None:
    """A program that was started with closed streams must not get a file of ours in their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)  # noqa: FBT003
    os.close(descriptor)
