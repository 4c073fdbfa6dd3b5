"""Kernels with a known cause of lost time: a small machine model runs them and writes thread traces.

>>> from synth.planted import plant
>>> pair = plant("s_nop", "gfx942", "small")
>>> 0.4 < pair.gain_share < 0.7
True

One trace from a shell: `python -m synth.planted CAUSE TARGET SIZE FOLDER`.
"""

from __future__ import annotations

from synth.planted.causes import CAUSES, GRID_CAUSES, ROOFS, SIZES
from synth.planted.decoded_traces import write_decoded
from synth.planted.machine import MACHINES
from synth.planted.pair import Pair, plant
from synth.planted.raw import write_raw

__all__ = ["CAUSES", "GRID_CAUSES", "MACHINES", "ROOFS", "SIZES", "Pair", "plant", "write_decoded", "write_raw"]
