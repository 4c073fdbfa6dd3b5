"""A profile as a folder of Parquet files, one per table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.export.run.tables import write_tables

if TYPE_CHECKING:
    import os

    from wavescope.export.kit.written import Written
    from wavescope.model.run import Profile

__all__ = ["write_profile_parquet"]


def write_profile_parquet(profile: Profile, out: str | os.PathLike[str], *, force: bool = False) -> Written:
    """Write `<table>.parquet` for every table, and `wavescope_profile.json` with row counts and checksums.

    The folder opens again with `wavescope.open_profile`, and its files with everything that reads Parquet.

    Raises
    ------
    UsageError
        When the folder exists and must not be replaced.
    WavescopeError
        When it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from wavescope.model.run import Profile
    >>> written = write_profile_parquet(Profile([]), tempfile.mkdtemp() + "/tables")
    >>> (written.path / "kernels.parquet").is_file()
    True
    """
    return write_tables(profile, out, "parquet", force=force)
