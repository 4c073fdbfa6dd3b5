"""Kernels whose lane addresses are chosen: captures, and the addresses as the sources mean them.

>>> import tempfile
>>> from synth.lanes import LaneLaunch, lane_truth
>>> with tempfile.TemporaryDirectory() as folder:
...     truth = lane_truth(LaneLaunch("lane_strides", "gfx942"), folder)
>>> truth.frame.row(4, named=True)["label"], truth.frame.row(4, named=True)["addresses"][:3]
('write_b32', [0, 4, 8])
"""

from __future__ import annotations

from synth.lanes.access import LaneAccess, LaneWave
from synth.lanes.paths import access_rows, label_lines
from synth.lanes.truths import LANE_SCHEMA, LaneLaunch, LaneTruth, lane_truth, lane_truths

__all__ = [
    "LANE_SCHEMA",
    "LaneAccess",
    "LaneLaunch",
    "LaneTruth",
    "LaneWave",
    "access_rows",
    "label_lines",
    "lane_truth",
    "lane_truths",
]
