"""A client's talk with the server in which lines are changed at random."""

from __future__ import annotations

import json
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

from tests.kit.mutations import json_bytes, mutated_bytes
from wavewright.mcp.declared import TOOLS
from wavewright.mcp.server import Server, Writer

CAPTURES = ("rpd/matmul_result.rpd", "rpd/matmul_result.json", "att-mi300x-bmm/c10/ui_output_agent_11915_dispatch_1")
LINES = 8  #: Changed lines of one talk.
_WORDS = {
    "sql": ("SELECT * FROM run.dispatches", "SELECT 1; DROP TABLE x", "ATTACH '/etc/passwd' AS a", "PRAGMA x"),
    "at": ("0x0", "0x10", "-1", "0xzz"),
    "time": ("1ms..2ms", "..", "2ms..1ms", "50%"),
    "rank": ("0", "-1", "all"),
    "cursor": ("", "AAAA", "20"),
    "kernel": ("*", "gemm", "[", "\u202e"),
    "view": ("dispatches", "run.dispatches", "trace.waves"),
}


def talk(draw: random.Random, data: Path, folder: Path) -> str:
    """How the server broke a promise; empty = it answered with whole messages and was there at the end."""
    output = folder / "answers"
    descriptor = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    server = _server(data)
    server.writer = Writer(descriptor)
    lines = [_changed_line(draw, data) for _ in range(LINES)]
    (folder / "lines").write_bytes(b"\n".join(lines))
    lines = [each for line in lines for each in line.split(b"\n") if each.strip()]  # as read_lines would
    try:
        for line in lines:
            server.take(line)
        server.take(b'{"jsonrpc": "2.0", "id": "the last", "method": "ping"}')
        server.calls.finish()
    except BaseException as error:  # whatever it is, it would end the server
        return f"{type(error).__name__}: {error}"[:300]
    finally:
        server.writer.is_closed = True  # a call that was cancelled may still tell how far it is
        os.close(descriptor)
    return _judged(output.read_bytes())


@cache
def _server(data: Path) -> Server:
    """One server for all talks, as it is for hours of an agent's work."""
    return Server.over(Writer(-1), [data / "rpd", data / "att-mi300x-bmm/c10"], "1")


def _judged(answers: bytes) -> str:
    is_there = False
    for line in answers.splitlines():
        try:
            message = json.loads(line)
        except ValueError as error:
            return f"not JSON: {error}: {line[:100]!r}"
        if message.get("jsonrpc") != "2.0" or not {"result", "error", "method"} & message.keys():
            return f"not a message: {line[:200]!r}"
        if "a bug" in json.dumps(message.get("error", message.get("result", {}).get("structuredContent", ""))):
            return f"a bug: {line[:300]!r}"
        is_there |= message.get("id") == "the last"
    return "" if is_there else "the last ping was not answered"


def _changed_line(draw: random.Random, data: Path) -> bytes:
    message = draw.choice(_messages(data))
    if message["method"] == "tools/call" and draw.random() < 0.7:
        message = {**message, "params": {**message["params"], "arguments": _arguments(draw, message["params"], data)}}
    message = {**message, "id": draw.randrange(1000)}
    whole = json.dumps(message).encode()
    return draw.choice((lambda: whole, lambda: json_bytes(draw, message), lambda: mutated_bytes(draw, whole)))()


def _arguments(draw: random.Random, params: Any, data: Path) -> dict[str, Any]:
    """Arguments that the tool declares, most of them sensible."""
    (schema,) = (tool.line["inputSchema"] for tool in TOOLS if tool.line["name"] == params["name"])
    arguments: dict[str, Any] = {}
    for name, declared in schema["properties"].items():
        if name in schema.get("required", ()) or draw.random() < 0.3:
            choices = declared.get("enum") or _WORDS.get(name, ())
            if name in ("capture", "other", "path", "under", "file"):
                choices = tuple(str(data / each) for each in CAPTURES)
            elif declared.get("type") == "integer":
                choices = (0, 1, 5, -1, 10**6)
            arguments[name] = draw.choice(choices) if choices else "x"
    return arguments


@cache
def _messages(data: Path) -> tuple[dict[str, Any], ...]:
    methods = ("initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list")
    params: dict[str, dict[str, Any]] = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {}},
        "resources/read": {"uri": "wavewright://glossary"},
        "prompts/get": {"name": "find-the-line", "arguments": {"path": str(data / CAPTURES[2])}},
        "notifications/cancelled": {"requestId": 7},
    }
    requests = [
        {"jsonrpc": "2.0", "method": method, "params": params.get(method, {})} for method in (*methods, *params)
    ]
    calls = [
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": tool.line["name"], "arguments": {}}}
        for tool in TOOLS
    ]
    return (*requests, *calls, *calls)
