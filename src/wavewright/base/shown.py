"""Text that is safe to show: escapes for names that are not UTF-8, and for characters that control a terminal.

A file is opened under its exact name. Wherever the name is shown (terminal, JSON, tables, pages, written files), bytes
that are not UTF-8 appear as escapes: `rank\\xff.db`.
"""

from __future__ import annotations

import codecs
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

ESCAPES = "wavewright.escapes"  #: Name of the codec error handler: `text.encode("utf-8", ESCAPES)`.
_BYTES = range(0xDC80, 0xDD00)  #: Bytes of a name that are not UTF-8, as Python stores them in a string.
_SURROGATES = range(0xD800, 0xE000)
#: Control characters, line separators and marks of text direction, for use inside a regular expression's set.
COMMANDS = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_COMMAND = re.compile(f"[{COMMANDS}]")


def escaped(error: UnicodeError) -> tuple[str, int]:
    """The codec error handler of `ESCAPES`.

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
    return f"\\u{number:04x}" if number in _SURROGATES else "?"  # ?: not in the encoding of the terminal


codecs.register_error(ESCAPES, escaped)


def shown(text: str) -> str:
    """A text with escapes for surrogates, which UTF-8 cannot encode.

    >>> print(shown("rank" + chr(0xDCFF) + ".db"))
    rank\\xff.db
    """
    return text if text.isascii() else text.encode("utf-8", ESCAPES).decode()


def printable(text: str) -> str:
    """An untrusted text with escapes for everything that controls a terminal or changes the text direction.

    >>> print(printable("v_add" + chr(27) + "[2J"))
    v_add\\x1b[2J
    """
    if text.isprintable():
        return text
    text = shown(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def quoted(word: str | os.PathLike[str]) -> str:
    """A word quoted for a shell, in printable characters only.

    >>> quoted("trace"), quoted("a b"), quoted("a" + chr(27))
    ('trace', "'a b'", "$'a\\\\x1b'")
    """
    text = os.fspath(word)
    if text.isprintable():
        return shlex.quote(text)
    octets = text.encode("utf-8", "surrogateescape")
    return "$'" + "".join(chr(o) if 32 <= o < 127 and o not in b"\\'" else f"\\x{o:02x}" for o in octets) + "'"


def command_line(words: Iterable[str | os.PathLike[str]]) -> str:
    """Words as a command that can be copied into a shell."""
    return " ".join(map(quoted, words))


def is_text(path: str | os.PathLike[str]) -> bool:
    """True if a path is valid UTF-8; Polars can open only such paths itself.

    >>> is_text("rank.db"), is_text("rank" + chr(0xDCFF) + ".db")
    (True, False)
    """
    return shown(os.fspath(path)) == os.fspath(path)


def json_bytes(value: Any, **options: Any) -> bytes:
    """Plain values as JSON, with escapes for surrogates and for characters that control a terminal.

    >>> json_bytes({"input": "rank" + chr(0xDCFF) + ".db"})
    b'{"input":"rank\\\\\\\\xff.db"}'
    >>> json_bytes(chr(0x202E) + "txt")
    b'"\\\\u202etxt"'
    """
    import msgspec

    try:
        content = msgspec.json.encode(value, **options)
    except UnicodeEncodeError:
        content = msgspec.json.encode(all_shown(msgspec.to_builtins(value, str_keys=True)), **options)
    if content.isascii() and b"\x7f" not in content:
        return content
    return _COMMAND.sub(lambda match: f"\\u{ord(match[0]):04x}", content.decode()).encode()


def all_shown(value: Any) -> Any:
    """A copy of a value with `shown` applied to every text in it, keys included."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {all_shown(key): all_shown(item) for key, item in value.items()}
    return [all_shown(item) for item in value] if isinstance(value, list | tuple) else value
