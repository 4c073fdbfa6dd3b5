"""Which profiles do these paths name? Files, folders, glob patterns; each profile is opened by its own reader."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UsageError
from wavescope.readers.sniff import PROFILES, Kind, sniff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.profile import Profile, ProfileSource

__all__ = ["ProfileInput", "find_profiles", "open_input", "open_profile"]

_DATABASE_KINDS = (Kind.ROCPD, Kind.RPD, Kind.ROCPROF_DATABASE)


@dataclass(frozen=True)
class ProfileInput:
    """One profile before it is opened: what a worker of a cluster is given.

    Examples
    --------
    >>> ProfileInput(Path("run.db"), Kind.ROCPD).path.name
    'run.db'
    """

    path: Path
    kind: Kind
    files: tuple[Path, ...] = ()
    """The files of a run that is spread over several (CSV); empty = `path` alone."""


def find_profiles(paths: Sequence[str | Path]) -> list[ProfileInput]:
    """The profiles that files, folders and glob patterns name, each once, in the order of the paths and of names.

    Raises
    ------
    UsageError
        When a path does not exist, or a pattern matches nothing.
    NotATraceError
        When a path holds no profile.

    Examples
    --------
    >>> find_profiles(["/nowhere"])
    Traceback (most recent call last):
    wavescope.errors.UsageError: /nowhere: no such file or folder
    """
    found: dict[ProfileInput, None] = {}
    for path in paths:
        for place in _expanded(str(path)):
            found |= dict.fromkeys(_profiles_at(place))
    return list(found)


def open_input(found: ProfileInput, *, with_environment: bool = False) -> ProfileSource:
    """Open one profile with the reader of its format.

    Raises
    ------
    NotATraceError, UnsupportedError
        When it cannot be read.

    Examples
    --------
    >>> source = open_input(ProfileInput(Path("run.db"), Kind.ROCPD))  # doctest: +SKIP
    """
    if found.kind in _DATABASE_KINDS:
        from wavescope.readers._sqlite import Database

        database = Database(found.path)
        if found.kind is Kind.ROCPD:
            from wavescope.readers.rocpd import read_rocpd

            return read_rocpd(database, with_environment=with_environment)
        if found.kind is Kind.RPD:
            from wavescope.readers.rpd import read_rpd

            return read_rpd(database)
        from wavescope.readers.rocprof_database import read_rocprof_database

        return read_rocprof_database(database)
    raise does_not_hold(found.path)


def open_profile(*paths: str | os.PathLike[str], with_environment: bool = False) -> Profile:
    """Open a run, or many: files, folders and glob patterns of ROCpd, RPD and rocprof databases, rocprofv3 CSV and
    JSON, Chrome traces of PyTorch, and tables that `wavescope convert` wrote.

    Parameters
    ----------
    paths
        What to open; all of it becomes one `Profile`.
    with_environment
        Whether the values of environment variables are read; they may hold secrets, and are masked otherwise.

    Raises
    ------
    UsageError
        When a path does not exist.
    NotATraceError, UnsupportedError
        When a path holds no profile, or it cannot be read.

    Examples
    --------
    >>> profile = open_profile("results.db")  # doctest: +SKIP
    >>> profile.kernels  # doctest: +SKIP
    """
    from wavescope.model.profile import Profile

    inputs = find_profiles([os.fspath(path) for path in paths])
    return Profile([open_input(found, with_environment=with_environment) for found in inputs])


def _expanded(path: str) -> list[Path]:
    """The places a path names; a pattern that is no file itself names its matches."""
    place = Path(path)
    if place.exists() or not glob.has_magic(path):
        return [place]
    matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob refuses absolute patterns
    if not matches:
        what = "no file matches this pattern"
        raise UsageError(what, where=path)
    return [Path(match) for match in matches]


def _profiles_at(place: Path) -> list[ProfileInput]:
    if not place.is_dir():
        kind = sniff(place)
        if kind not in PROFILES:
            raise does_not_hold(place)
        return [ProfileInput(place, kind)]
    files = sorted(file for file in place.rglob("*") if file.is_file() and file.suffix in _SUFFIXES)
    found = [ProfileInput(file, kind) for file in files if (kind := sniff(file)) in PROFILES]
    if not found:
        raise does_not_hold(place)
    return found


_SUFFIXES = {".db", ".rpd", ".gz"}


def does_not_hold(path: Path) -> NotATraceError:
    """The error for a path without a profile."""
    what = "no profile of a run" if not path.is_dir() else "no profile of a run in this folder"
    advice = "profiles are ROCpd, RPD and rocprof databases, rocprofv3 CSV or JSON, and Chrome traces of PyTorch"
    return NotATraceError(what, where=str(path), advice=advice)
