"""Names as users choose them: a part of a name, or a regular expression between slashes."""

from __future__ import annotations

import re

from wavewright.errors import UsageError


def pattern_of(text: str, plain: str = "name a part of a name") -> re.Pattern[str] | None:
    """The regular expression between slashes, None = there are none; `plain` says what a text without them does.

    Raises `UsageError` when it is not a regular expression.

    >>> pattern_of("/gemm.*/").pattern, pattern_of("gemm")
    ('gemm.*', None)
    """
    if len(text) <= 2 or not (text.startswith("/") and text.endswith("/")):
        return None
    try:
        return re.compile(text[1:-1])
    except (re.error, OverflowError, RecursionError) as error:
        raise no_pattern(text, error, plain) from error


def no_pattern(text: str, error: Exception, plain: str) -> UsageError:
    """The error for what is not a regular expression."""
    what = f"{text[:60]!r} is not a regular expression ({error})"
    return UsageError(what, advice=f"leave out the slashes to {plain}")
