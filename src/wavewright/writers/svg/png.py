"""Pictures as PNG, drawn from their SVG."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

_ZOOM = 2  #: Pixels per unit of the SVG: sharp on paper and on dense screens.
#: The font that is part of the package (`tools/make_font.py`): a PNG needs none of the system's, and is the same
#: everywhere.
_FONT = "DejaVu Sans"


def png_bytes(svg: str) -> bytes:
    """The picture as PNG, two pixels per unit of the SVG; needs the package resvg-py."""
    import resvg_py

    with as_file(files("wavewright.writers.svg") / "fonts" / "DejaVuSans.ttf") as font:
        fonts: dict[str, Any] = {"skip_system_fonts": True, "font_files": [str(font)]}
        fonts |= dict.fromkeys(("font_family", "sans_serif_family", "monospace_family"), _FONT)
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM, **fonts))
