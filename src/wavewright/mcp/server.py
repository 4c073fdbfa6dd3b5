"""The server of the Model Context Protocol: it reads and writes messages, and hands calls of tools on."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wavewright.base import stopping
from wavewright.base.shown import all_shown
from wavewright.mcp import texts
from wavewright.mcp.calls import Call, Calls
from wavewright.mcp.declared import BY_NAME, TOOLS

#: Name of a tool, its arguments, a callback for progress -> the result.
Answering = Callable[[str, Mapping[str, Any], Callable[[str], None]], dict[str, Any]]

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  #: Revisions with `initialize`, newest first.
MODERN = ("2026-07-28",)  #: Revisions that each request names itself.
_META = "io.modelcontextprotocol"
_VERSION_KEY = f"{_META}/protocolVersion"
_SERVER_KEY = f"{_META}/serverInfo"

#: Method -> how long a client may cache its results, in ms: the lists never change while the server runs.
_CACHED_MS = dict.fromkeys(
    ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"),
    3_600_000,
)


def agreed(wanted: Any) -> str:
    """The revision that `initialize` agrees on: the requested one, else the newest."""
    return wanted if wanted in HANDSHAKE else HANDSHAKE[0]


def named_version(params: dict[str, Any]) -> Any:
    """The revision that a request names; None = none, as before 2026-07-28."""
    meta = params.get("_meta")
    return meta.get(_VERSION_KEY) if isinstance(meta, dict) else None


def stamped(method: str, result: dict[str, Any], server: dict[str, str]) -> dict[str, Any]:
    """A result with the members that revision 2026-07-28 demands."""
    cached = {"ttlMs": _CACHED_MS[method], "cacheScope": "private"} if method in _CACHED_MS else {}
    return {**result, "resultType": "complete", **cached, "_meta": {_SERVER_KEY: server}}


MOST_BYTES = 1 << 20  #: Of one line.
_READ_BYTES = 1 << 16


def read_lines(descriptor: int, most: int = MOST_BYTES) -> Iterator[bytes | None]:
    """The lines of the input; None for each line that was too long and was skipped."""
    rest, is_skipping = b"", False
    while chunk := os.read(descriptor, _READ_BYTES):
        *whole, tail = chunk.split(b"\n")
        for piece in whole:
            line, rest = rest + piece, b""
            if is_skipping or len(line) > most:
                is_skipping = False
                yield None
            elif line.strip():
                yield line
        if not is_skipping:
            rest += tail
        if len(rest) > most:
            rest, is_skipping = b"", True
    if is_skipping:
        yield None
    elif rest.strip():
        yield rest


class Writer:
    """Writes messages to a descriptor, one per line, from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.is_closed = False  #: Whether the client has closed its end.

    def write(self, message: dict[str, Any]) -> None:
        """Write a message, unless the client has closed its end."""
        content = memoryview(as_line(message))
        with self._lock:
            try:
                while content and not self.is_closed:
                    content = content[os.write(self._descriptor, content) :]
            except OSError:
                self.is_closed = True


def as_line(message: Any) -> bytes:
    """A message as a line of JSON; bytes of names that are not UTF-8 get escapes."""
    try:
        return _json(message).encode() + b"\n"
    except UnicodeEncodeError:
        return _json(all_shown(message)).encode() + b"\n"


def _json(message: Any) -> str:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, UNSUPPORTED_VERSION = -32603, -32022
_LONGEST = 80  #: Characters of a client's text in an error.
_CAPABILITIES: dict[str, dict[str, Any]] = {"tools": {}, "resources": {}, "prompts": {}}


class ProtocolError(Exception):
    """A request that gets an error of the protocol; wrong arguments of a tool get a result instead."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass
class Server:
    """Answers requests: calls of tools in threads, everything else at once."""

    writer: Writer
    answer: Answering
    version: str
    calls: Calls

    @classmethod
    def over(cls, writer: Writer, roots: Sequence[Path], version: str) -> Server:
        """A server about the captures below some folders."""
        return cls(writer, _Tools(roots), version, Calls())

    @property
    def info(self) -> dict[str, str]:
        """The identity of this server."""
        return {"name": "wavewright", "title": "wavewright", "version": self.version}

    def serve(self, descriptor: int) -> None:
        """Answer messages until the input ends, and finish the running calls."""
        for line in read_lines(descriptor):
            if line is None:
                self._refuse(None, INVALID_REQUEST, f"a line has more than {MOST_BYTES:,} bytes")
            else:
                self.take(line)
            if self.writer.is_closed:
                return
        self.calls.finish()

    def take(self, line: bytes) -> None:
        """Handle one line of input."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError: also bytes that are not UTF-8
            self._refuse(None, PARSE_ERROR, f"not JSON: {str(error)[:_LONGEST]}")
            return
        for entry in message if isinstance(message, list) and message else [message]:  # 2025-03-26 allows lists
            self._take_message(entry)

    def _take_message(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "a message is an object")
            return
        key, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if "method" not in message and ("result" in message or "error" in message):
            return  # a response, although this server sends no requests
        if "id" in message and (isinstance(key, bool) or not isinstance(key, str | int)):
            self._refuse(None, INVALID_REQUEST, "an id is a text or an integer")
        elif message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
            self._refuse(key, INVALID_REQUEST, 'a request has "jsonrpc": "2.0", a method, and params as an object')
        elif "id" not in message:
            if method == "notifications/cancelled" and isinstance(params.get("requestId"), str | int):
                self.calls.cancel(params["requestId"])
        elif key is not None:
            self._take_request(key, method, params)

    def _take_request(self, key: str | int, method: str, params: dict[str, Any]) -> None:
        named = named_version(params)
        respond = partial(self._respond, key, method, is_modern=named is not None)
        try:
            if named is not None and named not in (*MODERN, *HANDSHAKE):
                what = f"revision {str(named)[:_LONGEST]!r} of the protocol is not spoken here"
                data = {"supported": [*MODERN, *HANDSHAKE], "requested": str(named)[:_LONGEST]}
                raise ProtocolError(UNSUPPORTED_VERSION, what, data)
            if method == "tools/call":
                self._start_call(key, params, respond)
            else:
                respond(self._result(method, params))
        except ProtocolError as error:
            self._refuse(key, error.code, error.message, error.data)
        except Exception as error:  # the server must go on
            self._refuse(key, INTERNAL_ERROR, f"this is a bug in wavewright: {type(error).__name__}: {error}")

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            facts = {"capabilities": _CAPABILITIES, "serverInfo": self.info, "instructions": texts.INSTRUCTIONS}
            return {"protocolVersion": agreed(params.get("protocolVersion")), **facts}
        if method == "server/discover":
            spoken = [*MODERN, *HANDSHAKE]
            return {"supportedVersions": spoken, "capabilities": _CAPABILITIES, "instructions": texts.INSTRUCTIONS}
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [tool.line for tool in TOOLS]}
        if method.startswith(("resources/", "prompts/")):
            return self._text(method, params)
        raise ProtocolError(NO_METHOD, f"there is no method {method[:_LONGEST]!r}")

    def _text(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        lists = {
            "resources/list": {"resources": texts.RESOURCES},
            "resources/templates/list": {"resourceTemplates": texts.TEMPLATES},
            "prompts/list": {"prompts": texts.listed_prompts()},
        }
        if method in lists:
            return lists[method]
        try:
            if method == "resources/read":
                return {"contents": [texts.resource(str(params.get("uri", "")))]}
            if method == "prompts/get":
                return texts.filled_prompt(str(params.get("name", "")), params.get("arguments") or {})
        except (LookupError, ValueError) as error:
            raise ProtocolError(INVALID_PARAMS, str(error.args[0])) from error
        raise ProtocolError(NO_METHOD, f"there is no method {method[:_LONGEST]!r}")

    def _start_call(self, key: str | int, params: dict[str, Any], respond: Callable[[dict[str, Any]], None]) -> None:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or name not in BY_NAME:
            what = f"there is no tool {str(name)[:_LONGEST]!r}; there are {', '.join(BY_NAME)}"
            raise ProtocolError(INVALID_PARAMS, what)
        if not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "arguments are an object")

        def work(call: Call) -> None:
            def say(stage: str) -> None:
                call.stage = stage

            try:
                result = self.answer(name, arguments, say)
                if not call.is_cancelled:
                    respond(result)
            except Exception as error:  # the client must get a response
                self._refuse(key, INTERNAL_ERROR, f"this is a bug in wavewright: {type(error).__name__}: {error}")

        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        tell = partial(self._tell, token) if isinstance(token, str | int) else None
        if not self.calls.start(Call(key, work, tell)):
            raise ProtocolError(INVALID_REQUEST, "this id is at work already, or too many calls are waiting")

    def _tell(self, token: str | int, progress: float, message: str) -> None:
        params = {"progressToken": token, "progress": progress, "message": message}
        self.writer.write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def _respond(self, key: str | int, method: str, result: dict[str, Any], *, is_modern: bool) -> None:
        result = stamped(method, result, self.info) if is_modern else result
        self.writer.write({"jsonrpc": "2.0", "id": key, "result": result})

    def _refuse(self, key: Any, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.writer.write({"jsonrpc": "2.0", "id": key, "error": error})


class _Tools:
    """The tools; their modules are imported by the first call."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._dispatcher: Any = None

    def __call__(self, name: str, arguments: Mapping[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        from wavewright.mcp.dispatcher import Dispatcher, dispatcher_lock

        with dispatcher_lock:
            self._dispatcher = self._dispatcher or Dispatcher.over(self._roots)
        result: dict[str, Any] = self._dispatcher.answered(name, arguments, say)
        return result


def serve(roots: Sequence[Path]) -> None:
    """Answer a client on standard input and output until it closes the input.

    Everything else that is printed, by libraries or as a warning, goes to standard error: a foreign line on standard
    output would break the protocol.
    """
    protocol = os.dup(1)
    os.dup2(2, 1)
    with stopping.served_until_interrupt():
        Server.over(Writer(protocol), roots, version()).serve(0)


def version() -> str:
    """The version, from the name of the folder that installers write: `importlib.metadata` takes much longer."""
    start, end = "wavewright-", ".dist-info"
    for folder in sys.path:
        with suppress(OSError):
            for entry in Path(folder).iterdir():
                if entry.name.startswith(start) and entry.name.endswith(end):
                    return entry.name[len(start) : -len(end)]
    import importlib.metadata

    return importlib.metadata.version("wavewright")
