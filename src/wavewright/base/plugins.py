"""Additions of other packages: readers, questions and exporters, as entry points of Python packages.

| group | name of the entry point | object |
| --- | --- | --- |
| `wavewright.readers` | how names of files end (`.xyz`) | function of a path that gives a `RunSource` |
| `wavewright.questions` | name of the question and of its verb | `TraceQuestion`, `RunQuestion` or `CounterQuestion` |
| `wavewright.exporters` | name of the format | function of a run, a path and `force=` that gives `Written` |

They are looked for only where nothing of wavewright fits, and imported when they are used: else they cost nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

READERS, QUESTIONS, EXPORTERS = "wavewright.readers", "wavewright.questions", "wavewright.exporters"


@cache
def plugins(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name; nothing is imported. Of several with one name, the first in their order."""
    from importlib.metadata import entry_points

    entries: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        entries.setdefault(point.name, point)
    return entries


def reader_suffix(name: str) -> str | None:
    """The longest ending of a file name that a reader of others is registered for; None = there is none."""
    candidates = [
        suffix for suffix in plugins(READERS) if suffix.startswith(".") and name.lower().endswith(suffix.lower())
    ]
    return max(candidates, key=len, default=None)


def load_plugin(group: str, name: str) -> Any:
    """The object of an entry point, imported now.

    Raises `UsageError` when it cannot be imported; the error names the package.
    """
    point = plugins(group)[name]
    try:
        return point.load()
    except Exception as error:
        raise plugin_error(group, name, error) from error


def plugin_error(group: str, name: str, error: object) -> UsageError:
    """The error of a plugin that failed: which one, of which package, and how."""
    point = plugins(group)[name]
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    kind = f"{type(error).__name__}: " if isinstance(error, Exception) else ""
    problem = f"the plugin {name!r}{package} ({point.value}) failed: {kind}{str(error)[:500]}"
    return UsageError(problem, advice="update or remove that package; wavewright itself is not the cause")
