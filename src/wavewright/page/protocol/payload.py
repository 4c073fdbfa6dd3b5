"""An answer as bytes, and the key by which the page, an exported page and the cache find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
_UNESCAPED = "!*'()"  #: What JavaScript's encodeURIComponent leaves as it is, and Python's quote does not.


@dataclass(frozen=True)
class Payload:
    """Bytes with their media type."""

    content: bytes
    media_type: str


def error_body(what: str, where: str = "", kept: str = "", advice: str = "") -> dict[str, dict[str, str]]:
    """An error as the page reads it (web/src/data/answer_error.ts)."""
    return {"error": {"what": what, "where": where, "kept": kept, "advice": advice}}


def key_of(document: int, question: str, parameters: Mapping[str, str]) -> str:
    """The path that the page asks for (`path` of web/src/data/ask.ts): parameters are in the order of their names."""
    query = "&".join(f"{name}={quote(parameters[name], safe=_UNESCAPED)}" for name in sorted(parameters))
    return f"{document}/{question}" + (f"?{query}" if query else "")
