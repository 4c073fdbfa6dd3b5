"""Place of the built page."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.errors import MissingToolError


def page_folder() -> Path:
    """The folder of the built page: `index.html` and what it loads."""
    for root in sys.modules["wavewright"].__path__:  # an editable installation has two
        folder = Path(root) / "_web"
        if (folder / "index.html").is_file():
            return folder
    problem = "the viewer's page is missing from this installation"
    advice = "install wavewright again; in a clone, `make page` builds it, and fetches Node.js where there is none"
    raise MissingToolError(problem, advice=advice)
