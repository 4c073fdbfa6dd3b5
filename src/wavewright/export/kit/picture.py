"""Pictures in files: SVG as it is, PNG drawn from the same SVG."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from wavewright.base.packages import require
from wavewright.errors import UsageError
from wavewright.export.kit.staging import staged

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = (".svg", ".png")
_ZOOM = 2  #: Pixels per unit of the SVG: sharp on paper and on dense screens.
#: The font that is part of the package (`tools/make_font.py`): a PNG needs none of the system's, and is the same
#: everywhere.
_FONT = "DejaVu Sans"


def check_picture(path: Path) -> None:
    """Check early whether `write_picture` can write this file.

    Raises
    ------
    UsageError
        When the name ends in neither .svg nor .png.
    MissingToolError
        When PNG is asked for and the package that draws it is missing.
    """
    if path.suffix.lower() not in FORMATS:
        problem = f"no picture format {path.suffix or path.name!r}"
        raise UsageError(problem, where=str(path), advice=f"names of pictures end in {' or '.join(FORMATS)}")
    if path.suffix.lower() == ".png":
        require("resvg_py", "plot")


def write_picture(svg: str, path: Path, *, force: bool = False) -> None:
    """Write a picture, completely or not at all; the ending of the name decides between SVG and PNG.

    Raises
    ------
    UsageError
        When the file exists and `force` is not given, or the name ends in something else.
    MissingToolError
        When PNG is asked for and the package that draws it is missing.
    WavewrightError
        When the file system refuses.
    """
    check_picture(path)
    with staged([path], force=force) as (twin,):
        twin.write_bytes(png_bytes(svg) if path.suffix.lower() == ".png" else svg.encode("utf-8"))


def png_bytes(svg: str) -> bytes:
    """The picture as PNG, two pixels per unit of the SVG; needs the package resvg-py."""
    import resvg_py

    with as_file(files("wavewright.export.kit") / "fonts" / "DejaVuSans.ttf") as font:
        content = resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=_ZOOM,
            skip_system_fonts=True,
            font_files=[str(font)],
            font_family=_FONT,
            sans_serif_family=_FONT,
            monospace_family=_FONT,
        )
    return bytes(content)
