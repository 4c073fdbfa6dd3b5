"""Where the built page lies."""

from __future__ import annotations

from pathlib import Path

from wavescope.errors import MissingToolError

__all__ = ["page_folder"]


def page_folder() -> Path:
    """The folder of the built page: `index.html` and what it loads.

    Raises
    ------
    MissingToolError
        When this installation has no page, because there was no Node.js when it was built.

    Examples
    --------
    >>> page_folder().name  # doctest: +SKIP
    '_web'
    """
    import sys

    for root in sys.modules["wavescope"].__path__:
        folder = Path(root) / "_web"
        if (folder / "index.html").is_file():
            return folder
    what = "this installation has no viewer page: there was no Node.js when it was built"
    advice = "install Node.js 20.19 or newer and install wavescope again; all other verbs work"
    raise MissingToolError(what, advice=advice)
