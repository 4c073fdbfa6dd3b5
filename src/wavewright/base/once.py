"""Values that are computed once and cached, safely with several threads."""

from __future__ import annotations

from threading import Lock, RLock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Key = TypeVar("Key", bound="Hashable")
Made = TypeVar("Made")

_GUARD = Lock()
#: Locks of values that are being computed, by the id of their cache and their key.
_MAKING: dict[tuple[int, Hashable], RLock] = {}


def once(cache: dict[Key, Made], key: Key, make: Callable[[], Made]) -> Made:
    """`cache[key]`, computed by `make()` the first time; threads that ask for the same key wait for it, others do not.

    >>> kept = {}
    >>> once(kept, "sum", lambda: 3), once(kept, "sum", lambda: 4)
    (3, 3)
    """
    if key in cache:
        return cache[key]
    place = (id(cache), key)
    with _GUARD:
        making = _MAKING.setdefault(place, RLock())
    with making:
        try:
            if key not in cache:
                cache[key] = make()
            return cache[key]
        finally:
            with _GUARD:
                _MAKING.pop(place, None)
