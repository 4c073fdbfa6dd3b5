"""Revisions of the protocol, and what each wants to see in a result.

Up to 2025-11-25 a client says `initialize` first. Since 2026-07-28 it may say `server/discover`, or nothing at all, and
every request names its revision itself.
"""

from __future__ import annotations

from typing import Any

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  #: Newest first.
MODERN = ("2026-07-28",)
_META = "io.modelcontextprotocol"
_VERSION_KEY = f"{_META}/protocolVersion"
_SERVER_KEY = f"{_META}/serverInfo"
#: Methods whose results a client may keep, and how long, in milliseconds: the lists never change while we run.
_KEPT_MS = dict.fromkeys(
    ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"),
    3_600_000,
)


def agreed(wanted: Any) -> str:
    """The revision that `initialize` agrees on: the wanted one, else our newest.

    Examples
    --------
    >>> agreed("2025-06-18"), agreed("1999-01-01")
    ('2025-06-18', '2025-11-25')
    """
    return wanted if wanted in HANDSHAKE else HANDSHAKE[0]


def named_version(params: dict[str, Any]) -> Any:
    """The revision that a request names itself; None = it does not, as before 2026-07-28."""
    meta = params.get("_meta")
    return meta.get(_VERSION_KEY) if isinstance(meta, dict) else None


def stamped(method: str, result: dict[str, Any], server: dict[str, str]) -> dict[str, Any]:
    """A result with what 2026-07-28 wants in it.

    Examples
    --------
    >>> stamped("ping", {}, {"name": "x"})["resultType"]
    'complete'
    """
    cached = {"ttlMs": _KEPT_MS[method], "cacheScope": "private"} if method in _KEPT_MS else {}
    return {**result, "resultType": "complete", **cached, "_meta": {_SERVER_KEY: server}}
