"""Numbers in sentences, written the same way everywhere."""

from __future__ import annotations

__all__ = ["percent"]


def percent(share: float | None, digits: int = 1, *, none: str = "-", sign: bool = False) -> str:
    """A share from 0 to 1 in percent; `none` stands for a share that is not known.

    Examples
    --------
    >>> percent(0.257), percent(0.5, 0), percent(None), percent(0.014, sign=True)
    ('25.7 %', '50 %', '-', '+1.4 %')
    """
    return none if share is None else f"{100 * share:{'+' if sign else ''}.{digits}f} %"
