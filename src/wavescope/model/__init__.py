"""The vocabulary: tables with units, the things that can be opened, what can be lost, and what an answer is."""

from wavescope.model.answer import Answer, once_per_trace, to_builtins
from wavescope.model.losses import LOSSES, Loss
from wavescope.model.schema import CATEGORIES, EVENT_TYPES, SAMPLE_REASONS, STATES, THREAD_TRACE
from wavescope.model.trace import ThreadTrace, TraceSource

__all__ = [
    "CATEGORIES",
    "EVENT_TYPES",
    "LOSSES",
    "SAMPLE_REASONS",
    "STATES",
    "THREAD_TRACE",
    "Answer",
    "Loss",
    "ThreadTrace",
    "TraceSource",
    "once_per_trace",
    "to_builtins",
]
