"""Cursors: where the rows of an answer go on. Opaque, and of use for the question that they came with only."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_ASKED = ("cursor", "limit")
_DIGEST_BYTES = 6


def cursor(tool: str, arguments: Mapping[str, Any], start: int) -> str:
    """The cursor of the row at a place."""
    return base64.urlsafe_b64encode(_digest(tool, arguments) + start.to_bytes(6)).decode()


def start_of(given: str, tool: str, arguments: Mapping[str, Any]) -> int:
    """The place of the row that a cursor names.

    Raises
    ------
    UsageError
        When it came with another question.

    Examples
    --------
    >>> start_of(cursor("hotspots", {"by": "line"}, 20), "hotspots", {"by": "line", "limit": 5})
    20
    """
    try:
        content = base64.b64decode(given.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != _DIGEST_BYTES + 6 or content[:_DIGEST_BYTES] != _digest(tool, arguments):
        what = "this cursor did not come with an answer to this question"
        raise UsageError(what, advice="give next_cursor of the answer before, and the same other arguments")
    return int.from_bytes(content[_DIGEST_BYTES:])


def _digest(tool: str, arguments: Mapping[str, Any]) -> bytes:
    asked = {name: value for name, value in arguments.items() if name not in _NOT_ASKED}
    return hashlib.sha256(json.dumps([tool, asked], sort_keys=True).encode()).digest()[:_DIGEST_BYTES]
