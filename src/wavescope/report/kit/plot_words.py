"""Numbers and names in plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def tenths(values: Sequence[float]) -> list[float]:
    """Percentages with one digit of parts of a whole, rounded such that they add up to 100; 0 where there is no whole.

    Examples
    --------
    >>> tenths([1, 1, 1]), tenths([0, 0])
    ([33.4, 33.3, 33.3], [0.0, 0.0])
    """
    total = sum(values)
    if not total > 0:
        return [0.0] * len(values)
    exact = [1000 * value / total for value in values]
    whole = [int(value) for value in exact]
    order = sorted(range(len(values)), key=lambda at: (whole[at] - exact[at], at))
    for at in order[: 1000 - sum(whole)]:
        whole[at] += 1
    return [value / 10 for value in whole]


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def rows_shown(shown: int, total: int, what: str, which: str) -> str:
    """How many rows of how many a plot shows, and which; empty = all.

    Examples
    --------
    >>> rows_shown(20, 3112, "kernels", "those with most time"), rows_shown(3, 3, "kernels", "")
    ('showing 20 of 3,112 kernels: those with most time', '')
    """
    return f"showing {shown:,} of {total:,} {what}: {which}" if shown < total else ""
