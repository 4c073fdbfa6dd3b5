"""Releases of ROCm that have rocprofv3: versions, defaults that changed, and what each does unlike its neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.capture.rocprofv3.installation import Installation
from wavewright.capture.rocprofv3.option import Version, is_within, version_of
from wavewright.capture.rocprofv3.options import all_options, option_named, options_in
from wavewright.errors import UsageError

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Release:
    """One release, as far as captures can tell it from others."""

    rocm: str
    sdk: str  #: Version of rocprofiler-sdk. Several releases share one, so that it does not name a release.
    default_format: str
    default_buffer_bytes: int | None  #: Of thread traces; None = it has none.
    is_script_tested: bool = False  #: Our tests run its script; the others are known from AMD's sources.

    @property
    def version(self) -> Version:
        """For comparisons."""
        return version_of(self.rocm)


def _release(rocm: str, sdk: str, *, is_tested: bool = False) -> Release:
    version = version_of(rocm)
    if version < (7, 0):
        buffer_bytes = None
    elif version < (7, 1):
        buffer_bytes = 96 * MIB
    else:
        buffer_bytes = 384 * MIB if version >= (10, 0, 1) else 256 * MIB
    return Release(
        rocm=rocm,
        sdk=sdk,
        default_format="csv" if version < (7, 0) else "rocpd",
        default_buffer_bytes=buffer_bytes,
        is_script_tested=is_tested,
    )


#: Oldest first. 7.2.4 carries the SDK of 7.13, but its script is not known: it is taken to have the options of 7.1.
RELEASES: tuple[Release, ...] = (
    _release("6.2", "0.4.0", is_tested=True),
    _release("6.3", "0.5.0", is_tested=True),
    _release("6.4", "0.6.0"),
    _release("7.0", "1.0.0", is_tested=True),
    _release("7.1", "1.1.0"),
    _release("7.2", "1.1.0"),
    _release("7.2.4", "1.3.0"),
    _release("7.9", "1.1.0"),
    _release("7.10", "1.1.0"),
    _release("7.11", "1.1.0", is_tested=True),
    _release("7.13", "1.3.0", is_tested=True),
    _release("7.14", "1.3.2", is_tested=True),
    _release("10.0", "1.3.5"),
    _release("10.0.1", "1.4.1"),
)
OLDEST = RELEASES[0]
#: What --dry-run assumes when nothing is installed: the newest release whose script the tests run.
NEWEST = max((release for release in RELEASES if release.is_script_tested), key=lambda release: release.version)


class Trap(NamedTuple):
    """A behaviour that surprises, and the releases that have it."""

    name: str
    since: str
    last: str  #: Empty = the newest has it.
    sentence: str  #: For users.


TRAPS: tuple[Trap, ...] = (
    Trap("no version", "6.2", "6.4", "the script does not know --version and answers with status 2"),
    Trap("no boolean values", "6.2", "6.2", "options that switch something on take no value such as =no"),
    Trap("file of metrics", "6.2", "6.2", "an input file in JSON or YAML lists its passes under `metrics`, not `jobs`"),
    Trap("one filter word", "6.2", "6.2", "kernels are filtered by --kernel-names, not by a regex"),
    Trap("last pmc wins", "6.3", "7.11", "of several --pmc options only the last one counts, without a message"),
    Trap("stats need a trace", "6.3", "6.3", "--stats with --pmc alone is refused"),
    Trap("key of thread traces unknown", "6.2", "6.4", "advanced_thread_trace in an input file is ignored"),
    Trap(
        "decoder wanted",
        "7.0",
        "",
        "--att is refused unless a file named librocprof-trace-decoder.so is in a folder that it looks into",
    ),
    Trap(
        "variable searches the disk",
        "7.0",
        "9",
        "ROCPROF_ATT_LIBRARY_PATH is read letter by letter, so that the whole disk is searched for the decoder",
    ),
    Trap(
        "jobs without counters are dropped",
        "7.13",
        "",
        "in an input file with several jobs those without pmc are not run, and the status is 0",
    ),
    Trap("text input deprecated", "7.13", "", "input files in text form are called deprecated, with a warning"),
    Trap("csv deprecated", "10.0", "", "csv, pftrace and otf2 are called deprecated; they are still written"),
    Trap("pid refused", "7.0", "7.0", "-p and --pid are refused; the period of collection is -P"),
)


def traps_of(version: Version) -> tuple[Trap, ...]:
    """What surprises in a release."""
    return tuple(trap for trap in TRAPS if is_within(version, trap.since, trap.last))


def has_trap(version: Version, name: str) -> bool:
    """Whether a release has a behaviour of `TRAPS`."""
    return any(trap.name == name for trap in traps_of(version))


def release_of(rocm_version: str) -> Release:
    """The known release that is, or comes right before, a version of ROCm; the newest tested one when it is empty.

    Raises
    ------
    UsageError
        When the text is no version, or names one without rocprofv3.

    Examples
    --------
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
        raise UsageError(
            f"ROCm {rocm_version[:40]} has no rocprofv3 that captures", advice=f"the first is ROCm {OLDEST.rocm}"
        )
    return older[-1]


def assumed(rocm_version: str = "") -> Installation:
    """The installation that a release would have, for looking at commands on a machine without it.

    Raises
    ------
    UsageError
        As `release_of`.

    Examples
    --------
    >>> "--att" in assumed("7.0").options, "--att" in assumed("6.3").options
    (True, False)
    """
    release = release_of(rocm_version)
    return Installation(
        rocprofv3="rocprofv3",
        root="/opt/rocm",
        rocm_version=rocm_version.strip() or release.rocm,
        sdk_version=release.sdk,
        options=known_options(release.version),
        decoder_folder="/opt/rocm/lib",  # part of ROCm from 7.13 on, before where its package puts it
        is_assumed=True,
    )


def known_options(version: Version) -> frozenset[str]:
    """Long options of a release by our table, hidden ones included."""
    return frozenset(name for name in options_in(version) if name.startswith("--"))


def version_of_installation(installation: Installation) -> Version:
    """The release of an installation: what it tells, else what its options tell.

    Before 7.0 the script does not tell its version, and where ROCm is built by hand no file tells it either.
    """
    told_version = version_of(installation.rocm_version)
    if told_version:
        return told_version
    fitting = [release for release in RELEASES if _needed(release.version) <= installation.options]
    return fitting[-1].version if fitting else OLDEST.version


def _needed(version: Version) -> frozenset[str]:
    """Options that an installation must list to be of a release; hidden ones may be missing."""
    return frozenset(o.name for o in all_options().values() if o.exists_in(version) and not o.is_hidden)


_OPTION = re.compile(r"--[a-z][a-z0-9-]*")


def options_of_help(text: str) -> frozenset[str]:
    """Long options that `rocprofv3 --help` lists.

    Only the lines that introduce an option count: descriptions name other options, also such as do not exist.

    Examples
    --------
    >>> sorted(options_of_help("  -d DIR, --output-directory DIR\\n       see --other\\n  --att [BOOL]  not --no"))
    ['--att', '--output-directory']
    """
    return frozenset(name for line in text.splitlines() for name in _introduced(line))


def _introduced(line: str) -> list[str]:
    """Names at the start of a line of help, up to the description, which two spaces set off."""
    if not re.match(r" {1,4}-", line):
        return []
    return _OPTION.findall(re.split(r" {2,}", line.strip(), maxsplit=1)[0])


def first_release_with(name: str) -> str:
    """The first release that has an option under this name; empty = none that is known."""
    option = option_named(name)
    if option is None:
        return ""
    return next((alias.since for alias in option.aliases if alias.name == name and alias.since), option.since)
