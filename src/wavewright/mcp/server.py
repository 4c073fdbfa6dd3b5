"""The server: messages in, messages out. It knows the protocol, and nothing of captures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from wavewright.mcp import texts, versions
from wavewright.mcp.calls import Call, Calls
from wavewright.mcp.declared import BY_NAME, TOOLS
from wavewright.mcp.lines import MOST_BYTES, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from wavewright.mcp.lines import Writer

    #: Name of the tool, its arguments, and where it says what it is doing -> the result.
    Answering = Callable[[str, Mapping[str, Any], Callable[[str], None]], dict[str, Any]]

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, UNSUPPORTED_VERSION = -32603, -32022
_LONGEST = 80  #: Characters of a wrong word that an error repeats.
_CAPABILITIES: dict[str, dict[str, Any]] = {"tools": {}, "resources": {}, "prompts": {}}


class ProtocolError(Exception):
    """A request that cannot be answered at all; wrong arguments of a tool are answered by the tool."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass
class Server:
    """Answers requests; calls of tools go to threads, everything else is answered at once."""

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
        """Who we are."""
        return {"name": "wavewright", "title": "wavewright", "version": self.version}

    def serve(self, descriptor: int) -> None:
        """Answer what comes in until the input ends, and then what is still at work."""
        for line in read_lines(descriptor):
            if line is None:
                self._refuse(None, INVALID_REQUEST, f"a line has more than {MOST_BYTES:,} bytes")
            else:
                self.take(line)
            if self.writer.is_closed:
                return
        self.calls.finish()

    def take(self, line: bytes) -> None:
        """Handle one line, whatever it is."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError: also bytes that are not UTF-8
            self._refuse(None, PARSE_ERROR, f"not JSON: {str(error)[:_LONGEST]}")
            return
        for each in message if isinstance(message, list) and message else [message]:  # 2025-03-26 allows lists
            self._take_message(each)

    def _take_message(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "a message is an object")
            return
        key, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if "method" not in message and ("result" in message or "error" in message):
            return  # an answer: we never ask
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
        named = versions.named_version(params)
        respond = partial(self._respond, key, method, is_modern=named is not None)
        try:
            if named is not None and named not in (*versions.MODERN, *versions.HANDSHAKE):
                what = f"revision {str(named)[:_LONGEST]!r} of the protocol is not spoken here"
                data = {"supported": [*versions.MODERN, *versions.HANDSHAKE], "requested": str(named)[:_LONGEST]}
                raise ProtocolError(UNSUPPORTED_VERSION, what, data)
            if method == "tools/call":
                self._start_call(key, params, respond)
            else:
                respond(self._result(method, params))
        except ProtocolError as error:
            self._refuse(key, error.code, error.message, error.data)
        except Exception as error:  # one request must not end the others
            self._refuse(key, INTERNAL_ERROR, f"this is a bug in wavewright: {type(error).__name__}: {error}")

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            facts = {"capabilities": _CAPABILITIES, "serverInfo": self.info, "instructions": texts.INSTRUCTIONS}
            return {"protocolVersion": versions.agreed(params.get("protocolVersion")), **facts}
        if method == "server/discover":
            spoken = [*versions.MODERN, *versions.HANDSHAKE]
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
            except Exception as error:  # the client must not wait for ever
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
        result = versions.stamped(method, result, self.info) if is_modern else result
        self.writer.write({"jsonrpc": "2.0", "id": key, "result": result})

    def _refuse(self, key: Any, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.writer.write({"jsonrpc": "2.0", "id": key, "error": error})


class _Tools:
    """The tools, which load what they need with the first call."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._dispatcher: Any = None

    def __call__(self, name: str, arguments: Mapping[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        from wavewright.mcp.dispatcher import Dispatcher, dispatcher_lock

        with dispatcher_lock:
            self._dispatcher = self._dispatcher or Dispatcher.over(self._roots)
        result: dict[str, Any] = self._dispatcher.answered(name, arguments, say)
        return result
