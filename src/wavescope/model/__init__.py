"""The vocabulary: tables with units, the things that can be opened, and what can be lost."""

from wavescope.model.losses import LOSSES, Loss
from wavescope.model.schema import CATEGORIES, EVENT_TYPES, STATES, THREAD_TRACE
from wavescope.model.thread_trace import ThreadTrace, TraceSource

__all__ = ["CATEGORIES", "EVENT_TYPES", "LOSSES", "STATES", "THREAD_TRACE", "Loss", "ThreadTrace", "TraceSource"]
