"""Plugins: readers, questions and exporters of other packages, registered as entry points.

| group | name of the entry point | object |
| --- | --- | --- |
| `wavewright.readers` | how names of files end (`.xyz`) | function of a path that gives a `RunSource` |
| `wavewright.questions` | name of the question and of its verb | `TraceQuestion`, `RunQuestion` or `CounterQuestion` |
| `wavewright.exporters` | name of the format | function of a run, a path and `force=` that gives `Written` |

Entry points are looked up only where nothing of wavewright fits, and imported when they are used.
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
    """The entry points of a group by name, not imported; of several with one name, the first by its value."""
    from importlib.metadata import entry_points

    entries: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        entries.setdefault(point.name, point)
    return entries


def reader_suffix(name: str) -> str | None:
    """The longest suffix of a file name that a plugin reads; None = there is none."""
    suffixes = [reader for reader in plugins(READERS) if reader.startswith(".")]
    return max((suffix for suffix in suffixes if name.lower().endswith(suffix.lower())), key=len, default=None)


def load_plugin(group: str, name: str) -> Any:
    """Import the object of an entry point; raises `UsageError`, which names the package, when that fails."""
    point = plugins(group)[name]
    try:
        return point.load()
    except Exception as error:
        raise plugin_error(group, name, error) from error


def plugin_error(group: str, name: str, error: object) -> UsageError:
    """The error for a plugin that failed, with its package and version."""
    point = plugins(group)[name]
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    kind = f"{type(error).__name__}: " if isinstance(error, Exception) else ""
    problem = f"the plugin {name!r}{package} ({point.value}) failed: {kind}{str(error)[:500]}"
    return UsageError(problem, advice="update or remove that package; wavewright itself is not the cause")
