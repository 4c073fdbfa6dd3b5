"""The views of the page that `show` can bring to the front, by kind of document: those of web/src/app/registry.ts."""

from __future__ import annotations

import tomllib
from pathlib import Path

from wavewright.errors import UsageError
from wavewright.model.document import DOCUMENTS

#: Kind of document -> ids of views, in the order of the page's menu.
VIEWS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PREFIXES = {"trace": "", "run": "run_", "counters": "counter_"}


def view_id(kind: str, view: str | None) -> str:
    """The id of a view; what the page calls `run_timeline` may be called `timeline`, too. Empty = none was named.

    Raises
    ------
    UsageError
        When documents of this kind have no such view.

    Examples
    --------
    >>> view_id("run", "timeline"), view_id("trace", "isa"), view_id("run", None)
    ('run_timeline', 'isa', '')
    """
    if not view:
        return ""
    name = view.strip().lower().replace("-", "_").replace(" ", "_")
    for candidate in (name, _PREFIXES[kind] + name):
        if candidate in VIEWS[kind]:
            return candidate
    raise UsageError(f"no view {view[:40]!r} of {DOCUMENTS[kind]}", advice=f"views: {', '.join(VIEWS[kind])}")
