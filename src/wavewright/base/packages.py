"""Packages that only some functions need."""

from __future__ import annotations

from wavewright.errors import MissingToolError


def require(package: str, name: str | None = None) -> None:
    """Make sure that a package is there; `name` is what pip calls it, when that differs.

    Raises
    ------
    MissingToolError
        When it is not installed.
    """
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise MissingToolError(f"this needs the package {name or package}", advice=f"pip install {name or package}")
