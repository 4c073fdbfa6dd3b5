"""The end of work that nobody waits for: what the native core does on a thread obeys a switch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from wavewright._core import Stopped, StopSwitch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["StopSwitch", "Stopped", "obeying"]


@contextmanager
def obeying(switch: StopSwitch) -> Iterator[None]:
    """In the block, work of this thread in the core raises `Stopped` soon after `switch.stop()`."""
    switch.enter()
    try:
        yield
    finally:
        switch.leave()
