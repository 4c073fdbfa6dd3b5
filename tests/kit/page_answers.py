"""What a page that `wavewright convert -f html` wrote holds, as anybody who gets the file can unpack it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK = re.compile(r'<script type="text/plain" id="answers-(\d+)">(.*?)</script>', re.DOTALL)
_INDEX = re.compile(r'<script type="text/plain" id="answers">(.*?)</script>', re.DOTALL)


def answers_in(page: Path) -> dict[str, bytes]:
    """The answers in a page, by their keys."""
    text = page.read_text(encoding="utf-8")
    blocks = {int(found[1]): found[2] for found in _BLOCK.finditer(text)}
    index = _INDEX.search(text)
    assert index
    places = json.loads(base64.b64decode(index[1]))
    return {
        key: gzip.decompress(base64.b64decode(blocks[block][start : start + length]))
        for key, (block, start, length, _) in places.items()
    }
