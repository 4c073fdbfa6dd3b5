"""Pictures in files: SVG as it is, PNG drawn from the same SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.errors import MissingToolError, UsageError
from wavescope.export._staging import staged
from wavescope.model.packages import require

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FORMATS", "check_picture", "write_picture"]

FORMATS = (".svg", ".png")
_ZOOM = 2
"""Pixels per unit of the SVG: sharp on paper and on dense screens."""
_PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text x="2" y="15">{}</text></svg>'


def check_picture(path: Path) -> None:
    """Refuse early what `write_picture` could not write.

    Raises
    ------
    UsageError
        When the name ends in neither .svg nor .png.
    MissingToolError
        When PNG is asked for and the package that draws it, or every font, is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_picture(Path("roofline.svg"))
    """
    if path.suffix.lower() not in FORMATS:
        what = f"no picture format {path.suffix or path.name!r}"
        raise UsageError(what, where=str(path), advice=f"names of pictures end in {' or '.join(FORMATS)}")
    if path.suffix.lower() == ".png":
        require("resvg_py", "resvg-py")
        if _drawn(_PROBE.format("Ag")) == _drawn(_PROBE.format("")):
            what = "no fonts are installed: a PNG would be without text"
            raise MissingToolError(what, advice="apt-get install fonts-dejavu-core, or write .svg")


def write_picture(svg: str, path: Path, *, force: bool = False) -> None:
    """Write a picture, whole or not at all; the ending of the name decides between SVG and PNG.

    Raises
    ------
    UsageError
        When the file exists and `force` is not given, or the name ends in something else.
    MissingToolError
        When PNG is asked for and the package that draws it, or every font, is missing.
    WavescopeError
        When the file system refuses.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> target = Path(tempfile.mkdtemp()) / "dot.svg"
    >>> write_picture('<svg xmlns="http://www.w3.org/2000/svg"/>', target)
    >>> target.read_text()
    '<svg xmlns="http://www.w3.org/2000/svg"/>'
    """
    check_picture(path)
    with staged([path], force=force) as (twin,):
        twin.write_bytes(_drawn(svg) if path.suffix.lower() == ".png" else svg.encode("utf-8"))


def _drawn(svg: str) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))
