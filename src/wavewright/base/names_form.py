"""Spelling of kernel names in text output: set by the command line, read by tables and sentences."""

from contextvars import ContextVar

#: "short" (only the parts in which names differ) or "full" (as recorded).
NAMES_FORM: ContextVar[str] = ContextVar("NAMES_FORM", default="short")
