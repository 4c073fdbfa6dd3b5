"""The built page as the two halves of one HTML file, between which its data goes."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import NamedTuple

from wavewright.base.shown import ESCAPES
from wavewright.page.assets import page_folder


class PageFrame(NamedTuple):
    """Parts of the page before and after the data."""

    before: bytes
    after: bytes


def page_frame(title: str, *, at: str = "", is_live: bool = False) -> PageFrame:
    """The page with its script, its style and the licences of others inside; its policy lets nothing be loaded.

    Raises `MissingToolError` when this installation has no page.

    Parameters
    ----------
    title
        Title of the page.
    at
        What it shows first, as in its URL after `#`.
    is_live
        Whether the widget around its frame answers its questions (web/src/data/host.ts); else the data does.
    """
    folder = page_folder()
    script = _inside_script((folder / "page.js").read_text(encoding="utf-8"))
    style = (folder / "page.css").read_text(encoding="utf-8").replace("</style", "<\\/style")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    attributes = (f' data-at="{html.escape(at)}"' if at else "") + (' data-live="1"' if is_live else "")
    before = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="app"{attributes}>Loading…</div>
"""
    notices = _inside_script((folder / "page.licences.txt").read_text(encoding="utf-8"))
    after = f"""<script type="text/plain" id="licences">
{notices}</script>
<script type="module">{script}</script>
</body>
</html>
"""
    return PageFrame(before.encode(errors=ESCAPES), after.encode())


def _inside_script(code: str) -> str:
    """Nothing in the code ends its element: both can only stand in texts, where a backslash changes nothing."""
    return code.replace("</script", "<\\/script").replace("<!--", "\\x3C!--")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
