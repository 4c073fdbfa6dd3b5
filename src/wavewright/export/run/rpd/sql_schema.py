"""The tables and views of an RPD file, schema 3 (schema.sql)."""

from __future__ import annotations

import re

from wavewright.facts.loader import packaged_text

GPU_STRIDE, PID_STRIDE = 1_000, 10_000_000  #: How far the ids of GPUs and processes of two nodes are apart.
METADATA = {"schema_version": "3", "gpu_stride": str(GPU_STRIDE), "pid_stride": str(PID_STRIDE), "session_count": "1"}

_SQL = packaged_text("schema.sql", package=__package__).replace("GPU_STRIDE", str(GPU_STRIDE))
_PARTS = re.findall(
    r"^-- (TABLE|VIEW) (\w+)\n(.+?);$", _SQL.replace("PID_STRIDE", str(PID_STRIDE)), re.MULTILINE | re.DOTALL
)
#: Table -> its columns.
TABLES: dict[str, str] = {name: sql for kind, name, sql in _PARTS if kind == "TABLE"}
#: View -> its SELECT.
VIEWS: dict[str, str] = {name: sql for kind, name, sql in _PARTS if kind == "VIEW"}
