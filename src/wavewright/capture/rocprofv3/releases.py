"""Releases of ROCm that have rocprofv3 (releases.toml): versions, defaults that changed, and what surprises in each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.capture.rocprofv3.options import Version, all_options, is_within, option_named, options_in, version_of
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_OPTION = re.compile(r"--[a-z][a-z0-9-]*")


@dataclass(frozen=True, kw_only=True)
class Installation:
    """One rocprofv3 with what belongs to it."""

    rocprofv3: str  #: Path of the script on the machine.
    root: str  #: Root of its ROCm.
    rocm_version: str  #: As 7.2.0; empty = unknown.
    sdk_version: str  #: As 1.1.0; empty = unknown (before 7.0 the script does not tell).
    options: frozenset[str]  #: Long options that its --help lists, hidden ones that we know of that release included.
    decoder_folder: str = ""  #: The folder that holds librocprof-trace-decoder.so; empty = none was found.
    is_assumed: bool = False  #: Not found on a machine, but known from our table of releases (--dry-run).

    @property
    def version(self) -> Version:
        """The release: what it tells, else what its options tell.

        Before 7.0 the script does not tell its version, and where ROCm is built by hand no file tells it either.
        """
        if version := version_of(self.rocm_version):
            return version
        fitting = [release.version for release in RELEASES if self._fits(release.version)]  # the newest is the last
        return fitting[-1] if fitting else RELEASES[0].version

    def _fits(self, version: Version) -> bool:
        """True if it lists every option of a release; hidden ones may be missing."""
        listed = [option for option in all_options().values() if option.exists_in(version) and not option.is_hidden]
        return all(option.name in self.options for option in listed)


class Release(NamedTuple):
    """One release, as releases.toml declares it."""

    rocm: str
    sdk: str  #: Version of rocprofiler-sdk.
    format: str  #: Default form of the output: csv or rocpd.
    buffer_mib: int  #: Default buffer of thread traces; 0 = it has none.
    is_script_tested: bool = False

    @property
    def version(self) -> Version:
        """For comparisons."""
        return version_of(self.rocm)


class Trap(NamedTuple):
    """A behaviour that surprises, and the releases that have it."""

    name: str
    sentence: str  #: For users.
    since: str
    last: str = ""  #: Empty = the newest has it.


_DECLARED = packaged("releases.toml", __package__)
RELEASES = tuple(Release(**row) for row in _DECLARED["release"])
TRAPS = tuple(Trap(**row) for row in _DECLARED["trap"])
#: What --dry-run assumes when nothing is installed: the newest release whose script the tests run.
NEWEST = [release for release in RELEASES if release.is_script_tested][-1]


def has_trap(version: Version, name: str) -> bool:
    """True when a release has a behaviour of `TRAPS`."""
    return any(trap.name == name and is_within(version, trap.since, trap.last) for trap in TRAPS)


def release_of(rocm_version: str) -> Release:
    """The known release that is, or comes right before, a version of ROCm; the newest tested one when it is empty.

    >>> release_of("7.2.1-43").rocm, release_of("").rocm
    ('7.2', '7.14')
    """
    if not rocm_version.strip():
        return NEWEST
    version = version_of(rocm_version)
    if not version:
        raise UsageError(f"not a version of ROCm: {rocm_version[:40]!r}", advice=f"write it as {NEWEST.rocm}")
    older = [release for release in RELEASES if is_within(version, release.rocm)]
    if not older:
        what = f"ROCm {rocm_version[:40]} has no rocprofv3 that captures"
        raise UsageError(what, advice=f"the first is ROCm {RELEASES[0].rocm}")
    return older[-1]


def assumed(rocm_version: str = "") -> Installation:
    """The installation that a release would have, for looking at commands on a machine without it."""
    release = release_of(rocm_version)
    return Installation(
        rocprofv3="rocprofv3",
        root="/opt/rocm",
        rocm_version=rocm_version.strip() or release.rocm,
        sdk_version=release.sdk,
        options=frozenset(name for name in options_in(release.version) if name.startswith("--")),
        decoder_folder="/opt/rocm/lib",  # part of ROCm from 7.13 on, before where its package puts it
        is_assumed=True,
    )


def options_of_help(text: str) -> frozenset[str]:
    """Long options that `rocprofv3 --help` lists.

    Only the lines that introduce an option count, up to the description, which two spaces set off: descriptions name
    other options, also such as do not exist.

    >>> sorted(options_of_help("  -d DIR, --output-directory DIR\\n       see --other\\n  --att [BOOL]  not --no"))
    ['--att', '--output-directory']
    """
    lines = [line.strip() for line in text.splitlines() if re.match(r" {1,4}-", line)]
    return frozenset(name for line in lines for name in _OPTION.findall(re.split(r" {2,}", line, maxsplit=1)[0]))


def first_release_with(name: str) -> str:
    """The first release that has an option under this name; empty = none that is known."""
    option = option_named(name)
    if option is None:
        return ""
    return next((alias.since for alias in option.aliases if alias.name == name and alias.since), option.since)
