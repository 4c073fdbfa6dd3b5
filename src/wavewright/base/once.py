"""Things that are made once and kept, also when several threads want them at the same time."""

from __future__ import annotations

from threading import Lock, RLock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Key = TypeVar("Key", bound="Hashable")
Made = TypeVar("Made")

_GUARD = Lock()
#: Locks of what is being made, by the dictionary that will keep it and its key.
_MAKING: dict[tuple[int, Hashable], RLock] = {}


def once(cache: dict[Key, Made], key: Key, make: Callable[[], Made]) -> Made:
    """`kept[key]`, which is `make()` the first time. Threads that want the same wait for it; others do not.

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
