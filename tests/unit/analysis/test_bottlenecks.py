"""Every suspect is found where it is the truth, and is not found where it is not."""

from __future__ import annotations

import pytest

from tests.unit.analysis.made_limits import limited, quiet
from wavescope.analysis.bottlenecks import Bottlenecks, KernelLimit, Suspicion, bottlenecks
from wavescope.analysis.bottlenecks.suspects import SUSPECTS
from wavescope.readers.counters import open_counters
from wavescope.synth.counter_capture import CounterCapture, write_counters
from wavescope.synth.counter_devices import DEVICES

AT_MOST_LIKELY = {name for name, suspect in SUSPECTS.items() if suspect.at_most == "likely"} | {"remote traffic"}


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Bottlenecks:
    """One capture with a kernel at every limit, and one at none."""
    works = (*limited().values(), quiet(DEVICES["gfx942"]))
    folder = tmp_path_factory.mktemp("limits")
    write_counters(folder, CounterCapture("gfx942", works, jitter=0.0))
    return bottlenecks(open_counters(folder))


def _kernel(answer: Bottlenecks, name: str) -> KernelLimit:
    return next(kernel for kernel in answer.kernels if kernel.kernel_name == name)


def _suspect(kernel: KernelLimit, name: str) -> Suspicion:
    return next(suspect for suspect in kernel.suspects if suspect.name == name)


@pytest.mark.parametrize("name", list(SUSPECTS))
def test_a_suspect_is_found_where_it_is_the_truth(answer: Bottlenecks, name: str) -> None:
    kernel = _kernel(answer, name)
    found = _suspect(kernel, name)
    assert found.verdict == ("likely" if name in AT_MOST_LIKELY else "at limit"), found
    assert name in kernel.limits
    assert found.remedy


@pytest.mark.parametrize("name", list(SUSPECTS))
def test_a_suspect_is_not_found_where_it_is_not(answer: Bottlenecks, name: str) -> None:
    found = _suspect(_kernel(answer, "quiet"), name)
    assert found.verdict == "excluded", found
    assert found.gain_share_max is None
