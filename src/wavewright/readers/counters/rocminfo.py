"""The text of rocminfo, which rocprof (v1) leaves beside its results: one block of lines per agent."""

from __future__ import annotations

import re
from pathlib import Path

from wavewright.base.files import open_regular

_MAX_BYTES = 1 << 22
_AGENT = re.compile(r"^Agent \d+\s*$", re.MULTILINE)
_LINE = re.compile(r"^  (\w[\w .()-]*?):+\s+(.*?)\s*$", re.MULTILINE)
_NAMES = {
    "Node": "node_id",
    "Device Type": "agent_type",
    "Name": "name",
    "Marketing Name": "product_name",
    "Compute Unit": "cu_count",
    "SIMDs per CU": "simd_per_cu",
    "Wavefront Size": "wave_front_size",
    "Max Waves Per CU": "max_waves_per_cu",
    "Max Clock Freq. (MHz)": "max_engine_clk_fcompute",
    "Shader Engines": "array_count",
}


def agents_of_rocminfo(file: Path) -> list[dict[str, str]]:
    """The agents under the names that rocprofv3 gives their facts; nothing where the file cannot be read."""
    try:
        with open_regular(file) as stream:
            text = stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    agents = []
    for block in _AGENT.split(text)[1:]:
        fields: dict[str, str] = {}
        for name, word in _LINE.findall(block):
            fields.setdefault(name, word.partition("(0x")[0].strip())
        agent = {ours: fields[field] for field, ours in _NAMES.items() if field in fields}
        agents.append({"simd_arrays_per_engine": "1"} | agent)
    return agents
