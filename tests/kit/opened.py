"""Real runs, opened once for all tests of a process that ask for them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import SHARED
from wavewright.readers.run import inputs

if TYPE_CHECKING:
    from wavewright.model.run import Run

_MOST_KEPT = 16  #: The largest take some hundred megabytes when all their tables were asked for.


def open_run(*paths: str | Path) -> Run:
    """As `inputs.open_run`; what lies in ../shared is opened once. Nobody may change what this returns."""
    if all(Path(path).is_relative_to(SHARED) for path in paths):
        return _kept(*paths)
    return inputs.open_run(*paths)


@lru_cache(maxsize=_MOST_KEPT)
def _kept(*paths: str | Path) -> Run:
    return inputs.open_run(*paths)
