"""Optional packages, installed by extras of wavewright."""

from __future__ import annotations

from wavewright.errors import MissingToolError


def require(package: str, extra: str, *, where: str = "") -> None:
    """Raise `MissingToolError` unless `package` is installed; the advice names the extra that brings it."""
    from importlib.util import find_spec

    if find_spec(package) is None:
        problem = f"this needs {package.replace('_', '-')}"
        raise MissingToolError(problem, where=where, advice=f"pip install 'wavewright[{extra}]'")
