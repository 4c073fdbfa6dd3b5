"""Several profiles as ROCpd files of one folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.export._staging import staged
from wavescope.export.rocpd import write_rocpd

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from wavescope.export._written import Written
    from wavescope.model.profile import Profile

__all__ = ["write_parts"]


def write_parts(parts: Mapping[str, Profile], folder: str | os.PathLike[str], *, force: bool = False) -> list[Written]:
    """Write each profile as `<name>_results.db`; all of them appear together, or none.

    Raises
    ------
    UsageError
        When a file exists and must not be replaced.
    WavescopeError
        When they cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from wavescope.model.profile import Profile
    >>> [each.path.name for each in write_parts({"rank0": Profile([])}, tempfile.mkdtemp())]
    ['rank0_results.db']
    """
    targets = [Path(folder) / f"{name}_results.db" for name in parts]
    with staged(targets, force=force) as twins:
        written = [write_rocpd(profile, twin) for profile, twin in zip(parts.values(), twins, strict=True)]
    return [replace(each, path=target) for each, target in zip(written, targets, strict=True)]
