"""An installation of ROCm's profiler on a machine: where it is, its release, and what its options are."""

from __future__ import annotations

from dataclasses import dataclass


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
