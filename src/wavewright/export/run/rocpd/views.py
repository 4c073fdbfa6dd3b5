"""The views that AMD's tools expect in a ROCpd file (views.sql)."""

from __future__ import annotations

import re

from wavewright.facts.loader import packaged_text

_VIEW = re.compile(r"^-- VIEW (\w+)\n(.+?);$", re.MULTILINE | re.DOTALL)

#: View -> its SELECT.
VIEWS: dict[str, str] = dict(_VIEW.findall(packaged_text("views.sql", package=__package__)))
