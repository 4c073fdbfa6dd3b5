"""A scripted agent: it knows a path, and sends only what answers offer, each call once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wavewright.mcp.dispatcher import Dispatcher

MOST_CALLS = 6
MOST_TOKENS = 6_000


@dataclass
class Walk:
    """What the agent sent, what it read, and the places in the source that it was led to."""

    calls: list[str] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)  #: File and line, in the order in which it came there.
    instructions: list[str] = field(default_factory=list)  #: Handles of the instructions that it was led to.
    tokens: int = 0  #: Of texts and fields, both of which a client may put into the context of its model.


def walked(root: Path, path: str) -> Walk:
    """Follow the first offer of the newest answer that still has one that was not sent, as far as the budget goes."""
    dispatcher, walk = Dispatcher.over([root]), Walk()
    pending: list[list[dict[str, Any]]] = [[{"tool": "open_capture", "arguments": {"path": path}}]]
    while pending and len(walk.calls) < MOST_CALLS:
        offers = pending[-1]
        if not offers:
            pending.pop()
            continue
        offer = offers.pop(0)
        sent = f"{offer['tool']} {json.dumps(offer['arguments'], sort_keys=True)}"
        if sent in walk.calls:
            continue
        result = dispatcher.answered(offer["tool"], offer["arguments"], lambda _stage: None)
        fields = result["structuredContent"]
        tokens = -(-(len(result["content"][0]["text"]) + len(json.dumps(fields, separators=(",", ":")))) // 4)
        assert not result["isError"], (sent, result["content"][0]["text"])
        if walk.tokens + tokens > MOST_TOKENS:
            return walk
        walk.calls.append(sent)
        walk.tokens += tokens
        if offer["tool"] in _PLACES:
            name, cost = _PLACES[offer["tool"]]
            first = _costliest(fields["tables"].get(name), cost)
            if first.get("file") and first.get("line"):
                walk.places.append((first["file"], first["line"]))
            if first.get("address"):
                walk.instructions.append(first["address"])
        pending.append([*fields["next"]])
    return walk


#: Tool -> the table of its answer that names lines, and the column with their cost.
_PLACES = {
    "source": ("lines", "cost"),
    "explain_wait": ("waits", "stall_cycles_total"),
    "hotspots": ("units", "exposed_cycles_total"),
}


def _costliest(table: dict[str, Any] | None, cost: str) -> dict[str, Any]:
    """The row that costs most among those shown."""
    if table is None or cost not in table["columns"]:
        return {}
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return max(rows, key=lambda row: row[cost] or 0)
