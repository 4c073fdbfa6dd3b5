"""A run as a folder of Arrow IPC files, one per table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.export.run.tables import write_tables

if TYPE_CHECKING:
    import os

    from wavescope.export.kit.written import Written
    from wavescope.model.run import Run


def write_arrow(run: Run, out: str | os.PathLike[str], *, force: bool = False) -> Written:
    """Write `<table>.arrow` for every table, and `wavescope_run.json` with row counts and checksums.

    The folder opens again with `wavescope.open_profile`, and its files with all that reads Arrow IPC (Feather 2).

    Raises
    ------
    UsageError
        When the folder exists and must not be replaced.
    WavescopeError
        When it cannot be written.
    """
    return write_tables(run, out, "arrow", force=force)
