"""The end of work that nobody waits for: what the native core does on a thread obeys a switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wavewright._core import Stopped, StopSwitch

__all__ = ["StopSwitch", "Stopped", "obeying"]


@contextmanager
def obeying(switch: StopSwitch) -> Iterator[None]:
    """In the block, work of this thread in the core raises `Stopped` soon after `switch.stop()`."""
    switch.enter()
    try:
        yield
    finally:
        switch.leave()
