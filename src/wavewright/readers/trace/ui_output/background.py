"""Work that goes on while the importing of polars, or anything else, keeps the caller busy."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A call of `work` in a separate thread; useful for work that releases the interpreter lock."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(work,))  # no daemon: Python must not end under native code
        try:
            self._thread.start()
        except RuntimeError:  # no more threads to be had
            self._run(work)

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._results.append(work())
        except BaseException as error:  # raised again by result()
            self._error = error

    def result(self) -> T:
        """Waits for the end; raises what the work raised."""
        if self._thread.ident is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]
