"""Makes valid thread traces and profiling databases of any size together with what reading them must give.

>>> from wavescope.synth import Scenario, synthesize
>>> trace = synthesize(Scenario(family="gfx11", workgroups=1, waves_per_workgroup=1)).traces[0]
>>> trace.truth.wave_count
1

Runs of applications, as ROCpd or RPD databases:

>>> import tempfile
>>> from wavescope.synth import Workload, write_rocpd
>>> with tempfile.TemporaryDirectory() as folder:
...     run = write_rocpd(folder + "/run.db", Workload(dispatches=500, ranks=2))
>>> run.total.regions["HIP", "hipLaunchKernel"].calls
492
"""

from __future__ import annotations

from wavescope.synth.capture import write_capture
from wavescope.synth.counter_capture import CounterCapture, SyntheticCounters, write_counter_csv, write_counters
from wavescope.synth.grow import GrownTrace, grow, repeat_stream
from wavescope.synth.kernel import KernelImage, compiled, family_of, tour
from wavescope.synth.kernel_work import KernelWork, typical_kernels
from wavescope.synth.rocpd import write_rocpd, write_rocpd_ranks
from wavescope.synth.rpd import write_rpd
from wavescope.synth.run_truth import RankTruth, Sums, SyntheticRun
from wavescope.synth.scenario import Scenario, SyntheticCapture, SyntheticTrace, synthesize
from wavescope.synth.workload import Workload

__all__ = [
    "CounterCapture",
    "GrownTrace",
    "KernelImage",
    "KernelWork",
    "RankTruth",
    "Scenario",
    "Sums",
    "SyntheticCapture",
    "SyntheticCounters",
    "SyntheticRun",
    "SyntheticTrace",
    "Workload",
    "compiled",
    "family_of",
    "grow",
    "repeat_stream",
    "synthesize",
    "tour",
    "typical_kernels",
    "write_capture",
    "write_counter_csv",
    "write_counters",
    "write_rocpd",
    "write_rocpd_ranks",
    "write_rpd",
]
