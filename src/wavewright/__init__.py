"""wavewright: decode, analyse and show AMD GPU performance data.

Examples
--------
>>> import wavewright
>>> trace = wavewright.open("capture/")  # doctest: +SKIP
>>> trace.instructions  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavewright import capture
    from wavewright.analysis.code.disassembly import disassemble
    from wavewright.errors import (
        DamagedError,
        LimitError,
        MissingToolError,
        NotATraceError,
        OutputError,
        UnsupportedError,
        UsageError,
        WavewrightError,
    )
    from wavewright.model.counters import CounterSet
    from wavewright.model.run import Run
    from wavewright.model.trace import ThreadTrace
    from wavewright.notebook.asking import ask, make_report
    from wavewright.notebook.show import show
    from wavewright.readers.counters import open_counters
    from wavewright.readers.opening import open  # noqa: A004
    from wavewright.readers.run.inputs import open_run
    from wavewright.readers.trace.att import decode

__all__ = [
    "CounterSet",
    "DamagedError",
    "LimitError",
    "MissingToolError",
    "NotATraceError",
    "OutputError",
    "Run",
    "ThreadTrace",
    "UnsupportedError",
    "UsageError",
    "WavewrightError",
    "ask",
    "capture",
    "decode",
    "disassemble",
    "make_report",
    "open",
    "open_counters",
    "open_run",
    "show",
]

_HOMES = {
    "ask": "wavewright.notebook.asking",
    "decode": "wavewright.readers.trace.att",
    "disassemble": "wavewright.analysis.code.disassembly",
    "make_report": "wavewright.notebook.asking",
    "open": "wavewright.readers.opening",
    "open_counters": "wavewright.readers.counters",
    "open_run": "wavewright.readers.run.inputs",
    "show": "wavewright.notebook.show",
    "CounterSet": "wavewright.model.counters",
    "Run": "wavewright.model.run",
    "ThreadTrace": "wavewright.model.trace",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'wavewright' has no attribute {name!r}")
    from importlib import import_module

    if name == "capture":
        return import_module("wavewright.capture")
    value: object = getattr(import_module(_HOMES.get(name, "wavewright.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
