"""Draw docs/images/demo.svg: what `wavewright demo` prints."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from unittest import mock

from rich.console import Console

from wavewright import cli
from wavewright.cli import demo

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "demo.svg"


def main() -> None:
    """Run the demo on a recording console and save its picture."""
    recorder = Console(record=True, width=118, file=io.StringIO(), force_terminal=True, highlight=False)
    with (
        mock.patch.object(demo, "console", lambda: recorder),
        mock.patch.object(demo, "_is_watched", lambda: False),  # the whole story, and no viewer
        mock.patch.object(sys, "argv", ["wavewright", "demo"]),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            if stop.code:
                raise
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(_self_contained(recorder.export_svg(title="wavewright demo")))


def _self_contained(svg: str) -> str:
    """The picture without the fonts that rich would load from the network."""
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!-- Generated with Rich.*?-->\s*", "", svg)
    return svg.replace("Fira Code, monospace", "monospace")


if __name__ == "__main__":
    main()
