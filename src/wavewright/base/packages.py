"""Packages that only some functions need."""

from __future__ import annotations

from wavewright.errors import MissingToolError


def require(package: str, extra: str, *, where: str = "") -> None:
    """Make sure that a package is there, which comes with an extra of wavewright.

    Raises `MissingToolError` when it is not installed.
    """
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise MissingToolError(
            f"this needs {package.replace('_', '-')}", where=where, advice=f"pip install 'wavewright[{extra}]'"
        )
