"""The tools that no declared question answers: opening, finding, comparing, querying, planning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wavewright.mcp.captures import Captures
from wavewright.mcp.reply import Reply
from wavewright.mcp.tools.capture import list_captures, open_capture
from wavewright.mcp.tools.capture_plan import plan_capture
from wavewright.mcp.tools.comparison import compare
from wavewright.mcp.tools.queries import query, schema

#: Name of a tool -> its function of the captures, the arguments, and a callback for progress.
ANSWERS: dict[str, Callable[[Captures, dict[str, Any], Callable[[str], None]], Reply]] = {
    "open_capture": open_capture,
    "list_captures": list_captures,
    "compare": compare,
    "query": query,
    "schema": schema,
    "plan_capture": plan_capture,
}
