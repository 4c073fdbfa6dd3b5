"""Names of files that are not UTF-8, as text that can be shown. The only such rule.

A file is opened under the name that it has. Where the name is shown (terminal, JSON, tables, pages, files that are
written), the bytes that are no text stand as escapes: `rank\\xff.db`.
"""

from __future__ import annotations

import codecs
import os
from typing import Any

ESCAPES = "wavewright.escapes"  #: Name of the rule for streams and codecs: `text.encode("utf-8", ESCAPES)`.
_BYTES = range(0xDC80, 0xDD00)  #: How Python spells bytes of a name that are no text.
_SURROGATES = range(0xD800, 0xE000)


def escaped(error: UnicodeError) -> tuple[str, int]:
    """The rule itself, as codecs want it.

    Examples
    --------
    >>> escaped(UnicodeEncodeError("utf-8", "a" + chr(0xDCFF), 1, 2, "no text"))
    ('\\\\xff', 2)
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


def _escape(letter: str) -> str:
    number = ord(letter)
    if number in _BYTES:
        return f"\\x{number - 0xDC00:02x}"
    return f"\\u{number:04x}" if number in _SURROGATES else "?"  # ?: a letter that the terminal lacks


codecs.register_error(ESCAPES, escaped)


def shown(text: str) -> str:
    """A text with escapes for what UTF-8 cannot hold.

    Examples
    --------
    >>> print(shown("rank" + chr(0xDCFF) + ".db"))
    rank\\xff.db
    """
    return text if text.isascii() else text.encode("utf-8", ESCAPES).decode()


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a path is text: polars opens only such files itself.

    Examples
    --------
    >>> is_text("rank.db"), is_text("rank" + chr(0xDCFF) + ".db")
    (True, False)
    """
    return shown(os.fspath(path)) == os.fspath(path)


def json_bytes(value: Any, **how: Any) -> bytes:
    """Plain values as JSON, with escapes for what UTF-8 cannot hold.

    Examples
    --------
    >>> json_bytes({"input": "rank" + chr(0xDCFF) + ".db"})
    b'{"input":"rank\\\\\\\\xff.db"}'
    """
    import msgspec

    try:
        return msgspec.json.encode(value, **how)
    except UnicodeEncodeError:
        return msgspec.json.encode(_all_shown(msgspec.to_builtins(value, str_keys=True)), **how)


def _all_shown(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {_all_shown(key): _all_shown(item) for key, item in value.items()}
    return [_all_shown(item) for item in value] if isinstance(value, list | tuple) else value
