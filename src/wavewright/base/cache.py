"""Location of the cache folder: decoded traces, unpacked uploads."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def cache_folder() -> Path | None:
    """The cache folder: `WAVEWRIGHT_CACHE`, else below `XDG_CACHE_HOME` or `~/.cache`; None = switched off."""
    variable = os.environ.get("WAVEWRIGHT_CACHE")
    if variable is not None:
        return Path(variable) if variable else None
    base = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):
        return (Path(base) if base else Path.home() / ".cache") / "wavewright"
    return None
