"""Makes valid thread traces of any size together with what decoding them must give.

>>> from wavescope.synth import Scenario, synthesize
>>> trace = synthesize(Scenario(family="gfx11", workgroups=1, waves_per_workgroup=1)).traces[0]
>>> trace.truth.wave_count
1
"""

from __future__ import annotations

from wavescope.synth.capture import write_capture
from wavescope.synth.grow import GrownTrace, grow, repeat_stream
from wavescope.synth.kernel import KernelImage, compiled, family_of, tour
from wavescope.synth.scenario import Scenario, SyntheticCapture, SyntheticTrace, synthesize

__all__ = [
    "GrownTrace",
    "KernelImage",
    "Scenario",
    "SyntheticCapture",
    "SyntheticTrace",
    "compiled",
    "family_of",
    "grow",
    "repeat_stream",
    "synthesize",
    "tour",
    "write_capture",
]
