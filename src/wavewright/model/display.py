"""`Displayed`: what notebooks show of traces, runs, counters and answers, looked up when a notebook asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


class Displayed:
    """Shown in notebooks as a headline, tables and pictures; costs nothing before a notebook asks for it."""

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The display as plain text, Markdown and HTML without script: IPython, Jupyter and marimo choose."""
        from importlib import import_module

        # By name: displays are made of reports, which are made of the model.
        bundle: dict[str, str] = import_module("wavewright.notebook.display").bundle_of(self)
        return {
            kind: text
            for kind, text in bundle.items()
            if (not include or kind in include) and kind not in (exclude or ())
        }
