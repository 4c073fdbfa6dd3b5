"""The frame of a page in one file: the HTML with script and style before and after the answers."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import NamedTuple

from wavewright.base.shown import ESCAPES
from wavewright.page.assets import page_folder


class PageFrame(NamedTuple):
    """The bytes before and after the answers."""

    before: bytes
    after: bytes


def page_frame(title: str, *, at: str = "", is_live: bool = False) -> PageFrame:
    """The page with its script, its style and the licences of others inside; its policy lets nothing be loaded.

    `at` is the place that it shows first, in the form of its URL after `#`. A live page asks the widget around it
    (web/src/data/host.ts) instead of answers inside. Raises `MissingToolError` when this installation has no page.
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
    """Code whose strings cannot end its element: in JavaScript strings, these escapes mean the same characters."""
    return code.replace("</script", "<\\/script").replace("<!--", "\\x3C!--")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
