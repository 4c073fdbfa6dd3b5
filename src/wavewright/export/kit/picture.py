"""Pictures in files: SVG as it is, PNG drawn from the same SVG."""

from __future__ import annotations

from pathlib import Path

from wavewright.base.packages import require
from wavewright.errors import UsageError
from wavewright.export.kit.staging import staged
from wavewright.writers.svg.png import png_bytes

FORMATS = (".svg", ".png")


def check_picture(path: Path) -> None:
    """Check early whether `write_picture` can write this file.

    Raises `UsageError` when the name ends in neither .svg nor .png; `MissingToolError` when PNG is asked for and the
    package that draws it is missing.
    """
    if path.suffix.lower() not in FORMATS:
        problem = f"no picture format {path.suffix or path.name!r}"
        if path.suffix.lower() in (".jpg", ".jpeg"):
            problem += ": JPEG blurs thin lines and small text"
        raise UsageError(problem, where=str(path), advice=f"names of pictures end in {' or '.join(FORMATS)}")
    if path.suffix.lower() == ".png":
        require("resvg_py", "plot")


def write_picture(svg: str, path: Path, *, force: bool = False) -> None:
    """Write a picture, completely or not at all; the ending of the name decides between SVG and PNG.

    Raises `UsageError` when the file exists and `force` is not given, or the name ends in something else;
    `MissingToolError` when PNG is asked for and the package that draws it is missing; `WavewrightError` when the file
    system refuses.
    """
    check_picture(path)
    with staged([path], force=force) as (twin,):
        twin.write_bytes(png_bytes(svg) if path.suffix.lower() == ".png" else svg.encode("utf-8"))
