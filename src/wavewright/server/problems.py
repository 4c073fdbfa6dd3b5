"""Errors as the page gets them: always the same four fields, never a traceback."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Document
from wavewright.page.protocol.payload import error_body

_ON_SCREEN = "what is on screen stays"
_log = logging.getLogger("wavewright.server")


class Problem(NamedTuple):
    """An HTTP status and the texts that the page shows."""

    status: int
    what: str
    where: str = ""
    kept: str = ""
    advice: str = ""

    @property
    def body(self) -> dict[str, dict[str, str]]:
        """The problem as the page reads it."""
        return error_body(self.what, self.where, self.kept, self.advice)


def problem_of(error: BaseException, document: Document | None = None) -> Problem:
    """The problem behind an error that was raised while a question about `document` was answered."""
    if document is not None and document.gone:
        return Problem(410, document.gone, document.label, _ON_SCREEN, "drop it on the page again")
    is_asked_wrong = isinstance(error, UsageError) and document is not None and document.is_open
    if document is not None and not is_asked_wrong and _is_gone(document.path):
        problem = "the trace is gone: it was moved or deleted while it was open"
        return Problem(410, problem, document.path, _ON_SCREEN, "put it back, or open it where it is now")
    if isinstance(error, WavewrightError):
        status = 400 if isinstance(error, UsageError) else 422
        return Problem(status, error.what, error.where, error.kept, error.advice)
    if isinstance(error, MemoryError):
        problem = "there is not enough memory for this answer"
        return Problem(507, problem, "", _ON_SCREEN, "close other programs, or open a smaller part")
    if isinstance(error, OSError):
        file_name = str(error.filename or "")
        return Problem(422, f"a file cannot be read: {error.strerror or error}", file_name, _ON_SCREEN)
    _log.error("a bug in wavewright: a question could not be answered", exc_info=error)
    problem = f"this is a bug in wavewright: {type(error).__name__}"
    return Problem(500, problem, "", _ON_SCREEN, "please report what `wavewright open` printed in the terminal")


def _is_gone(path: str) -> bool:
    """True if nothing is at the path; a path that must not be read is not gone."""
    try:
        return not Path(path).exists()
    except (OSError, ValueError):
        return False
