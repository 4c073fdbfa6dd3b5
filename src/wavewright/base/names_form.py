"""Form in which text writes the names of kernels: set once by the command line, read by tables and sentences."""

from contextvars import ContextVar

#: "short" by what differs, or "full" as the compiler knows them.
NAMES_FORM: ContextVar[str] = ContextVar("NAMES_FORM", default="short")
