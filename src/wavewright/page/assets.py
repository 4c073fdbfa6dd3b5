"""Where the built page lies."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.errors import MissingToolError


def page_folder() -> Path:
    """The folder of the built page: `index.html` and what it loads."""
    folders = [Path(root) / "_web" for root in sys.modules["wavewright"].__path__]
    built = [folder for folder in folders if (folder / "index.html").is_file()]
    if built:  # an editable installation may have two: that of pip, and that of the last `make page`
        return max(built, key=lambda folder: (folder / "index.html").stat().st_mtime)
    what = "this installation has no viewer page: there was no Node.js when it was built"
    advice = "install Node.js 20.19 or newer and install wavewright again; all other verbs work"
    raise MissingToolError(what, advice=advice)
