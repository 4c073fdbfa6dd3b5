"""Names of files that are not UTF-8, as text that can be shown. The only such rule.

A file is opened under the name that it has. Where the name is shown (terminal, JSON, tables, pages, files that are
written), the bytes that are no text stand as escapes: `rank\\xff.db`.
"""

from __future__ import annotations

import codecs
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

ESCAPES = "wavewright.escapes"  #: Name of the rule for streams and codecs: `text.encode("utf-8", ESCAPES)`.
_BYTES = range(0xDC80, 0xDD00)  #: How Python spells bytes of a name that are no text.
_SURROGATES = range(0xD800, 0xE000)
#: Letters that a terminal obeys or that turn the direction of a line, as a part of a set in regular expressions.
COMMANDS = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_COMMAND = re.compile(f"[{COMMANDS}]")


def escaped(error: UnicodeError) -> tuple[str, int]:
    """The rule itself, as codecs want it.

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

    >>> print(shown("rank" + chr(0xDCFF) + ".db"))
    rank\\xff.db
    """
    return text if text.isascii() else text.encode("utf-8", ESCAPES).decode()


def printable(text: str) -> str:
    """A text from a trace without what could command a terminal or turn its lines around: that is shown as an escape.

    >>> print(printable("v_add" + chr(27) + "[2J"))
    v_add\\x1b[2J
    """
    if text.isprintable():
        return text
    text = shown(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def quoted(word: str | os.PathLike[str]) -> str:
    """A word for a shell's command line, in characters that every terminal shows.

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
    """True if a path is text: polars opens only such files itself.

    >>> is_text("rank.db"), is_text("rank" + chr(0xDCFF) + ".db")
    (True, False)
    """
    return shown(os.fspath(path)) == os.fspath(path)


def json_bytes(value: Any, **options: Any) -> bytes:
    """Plain values as JSON, with escapes for what UTF-8 cannot hold and for what a terminal would obey.

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
    """The same value with every text in it, also of keys, as `shown`."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {all_shown(key): all_shown(item) for key, item in value.items()}
    return [all_shown(item) for item in value] if isinstance(value, list | tuple) else value
