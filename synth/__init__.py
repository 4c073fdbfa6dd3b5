"""Makes valid thread traces and profiling databases of any size together with what reading them must give.

>>> from synth import Scenario, synthesize
>>> trace = synthesize(Scenario(family="gfx11", workgroups=1, waves_per_workgroup=1)).traces[0]
>>> trace.truth.wave_count
1

Runs of applications, as ROCpd or RPD databases:

>>> import tempfile
>>> from synth import Workload, write_rocpd
>>> with tempfile.TemporaryDirectory() as folder:
...     run = write_rocpd(folder + "/run.db", Workload(dispatches=500, ranks=2))
>>> run.total.regions["HIP", "hipLaunchKernel"].calls
492
"""

from __future__ import annotations

from synth.capture import write_capture
from synth.counter_capture import CounterCapture, SyntheticCounters, write_counter_csv, write_counters
from synth.grow import GrownTrace, grow, repeat_stream
from synth.kernel import KernelImage, compiled, family_of, tour
from synth.kernel_work import KernelWork, typical_kernels
from synth.rocpd import write_rocpd, write_rocpd_ranks
from synth.rpd import write_rpd
from synth.run_truth import RankTruth, Sums, SyntheticRun
from synth.scenario import Scenario, SyntheticCapture, SyntheticTrace, synthesize
from synth.workload import Workload

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
