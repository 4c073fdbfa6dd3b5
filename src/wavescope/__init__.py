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
    from wavescope.model.counter_set import CounterSet
    from wavescope.model.profile import Profile
    from wavescope.model.thread_trace import ThreadTrace, TraceSource
    from wavescope.readers.att import decode
    from wavescope.readers.counters import open_counters
    from wavescope.readers.opening import open  # noqa: A004
    from wavescope.readers.profile_inputs import open_profile

__all__ = [
    "CounterSet",
    "DamagedError",
    "LimitError",
    "MissingToolError",
    "NotATraceError",
    "OutputError",
    "Profile",
    "ThreadTrace",
    "TraceSource",
    "UnsupportedError",
    "UsageError",
    "WavescopeError",
    "decode",
    "open",
    "open_counters",
    "open_profile",
]

_HOMES = {
    "decode": "wavescope.readers.att",
    "open": "wavescope.readers.opening",
    "open_counters": "wavescope.readers.counters",
    "open_profile": "wavescope.readers.profile_inputs",
    "CounterSet": "wavescope.model.counter_set",
    "Profile": "wavescope.model.profile",
    "ThreadTrace": "wavescope.model.thread_trace",
    "TraceSource": "wavescope.model.thread_trace",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        what = f"module 'wavescope' has no attribute {name!r}"
        raise AttributeError(what)
    from importlib import import_module

    value: object = getattr(import_module(_HOMES.get(name, "wavescope.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
