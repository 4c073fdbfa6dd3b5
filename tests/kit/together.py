"""Many small cases as one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

_MOST_SHOWN = 300  #: Characters of a value.


def together(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but one test that tries all cases and shows all that fail.

    For cases that take less time than their announcement (2 ms). They share the test's fixtures.
    """
    parts = [name.strip() for name in names.split(",")]
    values = [(case,) if len(parts) == 1 else tuple(case) for case in cases]
    assert not any(hasattr(value, "marks") for case in values for value in case), "cases of one test have no marks"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def tried(**fixtures: Any) -> None:
            if not values:
                pytest.skip(f"no cases of {names}")
            try_all(lambda *case: test(**fixtures, **dict(zip(parts, case, strict=True))), values)

        own = inspect.signature(test)
        kept = [parameter for name, parameter in own.parameters.items() if name not in parts]
        assert len(kept) == len(own.parameters) - len(parts)
        tried.__signature__ = own.replace(parameters=kept)  # type: ignore[attr-defined]
        return tried

    return decorated


def try_all(check: Callable[..., object], cases: Iterable[tuple[Any, ...]]) -> None:
    """Call `check` with each case; those that fail are raised together, each with its case as a note."""
    failures: list[BaseException] = []
    for case in cases:
        try:
            check(*case)
        except (Exception, pytest.fail.Exception) as failure:
            failure.add_note(f"case {', '.join(repr(value)[:_MOST_SHOWN] for value in case)}")
            failures.append(failure)
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} cases", failures)
