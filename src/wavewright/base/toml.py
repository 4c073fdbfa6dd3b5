"""TOML files: those of the package, read once, and those of users, with limits on size and depth."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from typing import Any

from wavewright.base.files import open_regular
from wavewright.base.shown import shown
from wavewright.errors import UsageError

BYTES_MAX = 1 << 20
_PARTS_MAX = 64  #: Of a key: the parser's time grows with the square of their number.
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_REASON_LETTERS_MAX = 200


@cache
def packaged(file: str, package: str | None = "wavewright.facts") -> dict[str, Any]:
    """The content of a TOML file beside the modules of `package`: `packaged("gpus/gfx9.toml")`."""
    return tomllib.loads(packaged_text(file, package=package))


def packaged_text(file: str, *, package: str | None = "wavewright.facts") -> str:
    """The text of a file beside the modules of `package`."""
    from importlib.resources import files

    return files(package or "wavewright").joinpath(file).read_text(encoding="utf-8")


def read_toml(path: str | os.PathLike[str], *, advice: str, bytes_max: int = BYTES_MAX) -> dict[str, Any]:
    """Read and parse a TOML file of the user. Raises `UsageError` when it cannot be read or is not TOML."""
    where = shown(os.fspath(path))
    try:
        with open_regular(path) as stream:
            content = stream.read(bytes_max + 1)
        if len(content) > bytes_max:
            raise UsageError(f"more than {bytes_max:,} bytes", where=where, advice=advice)
        text = content.decode("utf-8-sig")
        if any(_QUOTED.sub("", line.partition("=")[0]).count(".") >= _PARTS_MAX for line in text.splitlines()):
            raise UsageError(f"a key of more than {_PARTS_MAX} parts", where=where, advice=advice)
        return tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", where=where, advice=advice) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"is not TOML: byte {error.start:,} is not UTF-8", where=where, advice=advice) from None
    except (ValueError, RecursionError) as error:  # no TOML, too deep, or a number of thousands of digits
        reason = str(error)[:_REASON_LETTERS_MAX]
        raise UsageError(f"is not TOML: {reason}", where=where, advice=advice) from None
