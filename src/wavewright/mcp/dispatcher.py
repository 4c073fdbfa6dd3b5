"""The dispatcher of calls: it checks arguments, opens captures, asks tools, and turns every error into a result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wavewright.base.bounds import integer_of
from wavewright.errors import UsageError, WavewrightError
from wavewright.mcp.captures import Captures
from wavewright.mcp.declared import BY_NAME, MOST_ROWS, USUAL_ROWS, Parameter, Tool
from wavewright.mcp.reply import Offer, Reply, error_of, result_of
from wavewright.mcp.roots import Roots
from wavewright.mcp.suggestions import suggested_calls
from wavewright.mcp.tools import ANSWERS
from wavewright.mcp.topic_answers import ask, nearest

dispatcher_lock = threading.Lock()
_LONGEST = 10_000  #: Characters of an argument.
_SHOWN = 80


@dataclass
class Dispatcher:
    """Answers calls about the captures below some folders."""

    captures: Captures

    @classmethod
    def over(cls, roots: Sequence[Path]) -> Dispatcher:
        """A dispatcher with no capture opened yet."""
        return cls(Captures(Roots.of(roots)))

    def answered(self, name: str, arguments: Mapping[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        """The result of a call; errors and bugs become results too."""
        try:
            tool = BY_NAME[name]
            checked = check_arguments(tool, arguments)
            return result_of(self._reply(tool, checked, say), is_large=checked.get("limit", 0) > USUAL_ROWS)
        except WavewrightError as error:
            return error_of(error, self._ways_out(error, arguments))
        except MemoryError:
            return error_of(WavewrightError("there is not enough memory for this answer", advice="ask about a part"))
        except OSError as error:
            where = str(error.filename or "")
            return error_of(WavewrightError(f"a file cannot be read: {error.strerror or error}", where=where))
        except BaseException as error:  # a panic inside polars is not an Exception
            import traceback

            traceback.print_exc()  # for the client's log; the model gets one sentence
            what = f"this is a bug in wavewright: {type(error).__name__}: {str(error)[:200]}"
            return error_of(WavewrightError(what, advice="ask something else, and report it"))

    def _reply(self, tool: Tool, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
        if not tool.topics:
            return ANSWERS[tool.name](self.captures, arguments, say)
        capture = self.captures.get(arguments["capture"])
        say(f"reading {capture.name}")
        document = self.captures.document(capture)
        say(f"answering {tool.name}")
        return ask(tool, arguments, capture, document)

    def _ways_out(self, error: WavewrightError, arguments: Mapping[str, Any]) -> tuple[Offer, ...]:
        """Calls to send instead, if the error is about a path."""
        given = arguments.get("path") or arguments.get("capture")
        if not isinstance(given, str) or isinstance(error, _ArgumentError):
            return ()
        for capture in self.captures.at(given):
            if self.captures.is_open(capture.handle):
                return suggested_calls((), self.captures.document(capture).kind, capture.handle)
            if capture.handle == given:
                return ()
        try:
            is_folder = self.captures.roots.path(given).is_dir()
        except UsageError:
            return (Offer("list_captures", {}, "captures that are there"),)
        return (Offer("list_captures", {"under": given}, "captures below it"),) if is_folder else ()


class _ArgumentError(UsageError):
    """Arguments that a tool does not take."""


def check_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as values. Raises `UsageError` when one is unknown, missing or of the wrong kind."""
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in parameters:
            what = f"{tool.name} has no parameter {name[:_SHOWN]!r}"
            raise _ArgumentError(what, advice=nearest(name[:_SHOWN], tuple(parameters)))
    for parameter in parameters.values():
        if parameter.is_required and parameter.name not in given:
            raise _ArgumentError(f"{tool.name} needs {parameter.name!r}", advice=f"parameters: {', '.join(parameters)}")
    return {name: _checked(tool, parameters[name], value) for name, value in given.items()}


def _checked(tool: Tool, parameter: Parameter, value: Any) -> Any:
    called = f"{tool.name}: {parameter.name}"
    if parameter.kind == "integer":
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        elif isinstance(value, str) and (number := integer_of(value)) is not None:
            value = number
        most = MOST_ROWS if parameter.name == "limit" else 1_000_000
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise _ArgumentError(f"{called} is not an integer from 1 to {most:,}: {str(value)[:_SHOWN]!r}")
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise _ArgumentError(f"{called} is not a text of at most {_LONGEST:,} characters")
    if parameter.choices and value not in parameter.choices:
        raise _ArgumentError(f"{called} is not {value[:_SHOWN]!r}", advice=nearest(value[:_SHOWN], parameter.choices))
    return value
