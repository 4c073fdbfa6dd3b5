"""Memory of large traces in files of the cache folder: without names, bounded, and gone with the process."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress

from wavewright import _core
from wavewright.base.cache import cache_folder

LARGE_BYTES = 256 << 20  #: Bytes of raw buffers from which on what is made of them lies in files.
_MOST_BYTES = 64 << 30  #: Of all files together, and half of what is free on the disk.
_MOST_RESIDENT_BYTES = 512 << 20  #: Of pages of them that stay in memory.
_GUARD = threading.Lock()
_is_used = False


def use_files() -> None:
    """From now on the core makes large blocks in files; where that cannot be, they stay in memory."""
    global _is_used
    folder = cache_folder()
    with _GUARD, suppress(OSError, RuntimeError):
        if folder is None or _is_used:
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _core.keep_blocks_in(str(folder), min(_MOST_BYTES, shutil.disk_usage(folder).free // 2))
        threading.Thread(
            target=_core.bound_pages, args=(_MOST_RESIDENT_BYTES,), name="large memory", daemon=True
        ).start()
        _is_used = True
