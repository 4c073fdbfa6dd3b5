"""wavescope: decode, analyse and show AMD GPU performance data.

Examples
--------
>>> import wavescope
>>> trace = wavescope.open("capture/")  # doctest: +SKIP
>>> trace.instructions  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavescope import capture
    from wavescope.analysis.code.files import disassemble
    from wavescope.errors import (
        DamagedError,
        LimitError,
        MissingToolError,
        NotATraceError,
        OutputError,
        UnsupportedError,
        UsageError,
        WavescopeError,
    )
    from wavescope.model.counters import CounterSet
    from wavescope.model.run import Run
    from wavescope.model.trace import ThreadTrace
    from wavescope.notebook.asking import ask
    from wavescope.notebook.reporting import make_report
    from wavescope.notebook.show import show
    from wavescope.readers.counters import open_counters
    from wavescope.readers.opening import open  # noqa: A004
    from wavescope.readers.run.inputs import open_run
    from wavescope.readers.trace.att import decode

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
    "WavescopeError",
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
    "ask": "wavescope.notebook.asking",
    "decode": "wavescope.readers.trace.att",
    "disassemble": "wavescope.analysis.code.files",
    "make_report": "wavescope.notebook.reporting",
    "open": "wavescope.readers.opening",
    "open_counters": "wavescope.readers.counters",
    "open_run": "wavescope.readers.run.inputs",
    "show": "wavescope.notebook.show",
    "CounterSet": "wavescope.model.counters",
    "Run": "wavescope.model.run",
    "ThreadTrace": "wavescope.model.trace",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'wavescope' has no attribute {name!r}")
    from importlib import import_module

    if name == "capture":
        return import_module("wavescope.capture")
    value: object = getattr(import_module(_HOMES.get(name, "wavescope.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
