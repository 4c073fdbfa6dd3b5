"""HTA's critical-path cases, rebuilt from their description: the path by its rules, written down by hand.

HTA's edges and what they are here:

| HTA | here |
| --- | --- |
| operator or runtime call, from start to end | class host; calls that launch: class launch |
| launch delay, from the start of the call to that of the kernel | class launch |
| kernel | class kernels |
| kernel to kernel, in one stream | class idle |
| synchronisation, weight 0 | class host, with the time from the end of the kernel to the return of the call |

Two differences: the time between the end of a kernel and the return from waiting is on the path, so that the path adds
up to the span, and host code is one stretch up to the next call: `stack` tells its operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import HTA_CASES, hta_case, simulate, write_kineto, write_rocpd
from synth.runs.places import EPOCH_NS
from wavewright.analysis.run.graph.path import critical_path
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from synth.runs import SimulatedRun

BASE_NS = {"rocpd": EPOCH_NS, "hip": EPOCH_NS + 1_751_410_836_000_000_000, "cuda": EPOCH_NS + 1_751_410_836_000_000_000}
WRITERS: dict[str, Callable[[SimulatedRun, Path], object]] = {
    "rocpd": write_rocpd,
    "hip": write_kineto,
    "cuda": lambda run, folder: write_kineto(run, folder, is_cuda=True),
}
#: Case -> stretches by HTA's rules: until when (us), class, event. Calls without hip or cuda before their name.
EXPECTED: dict[str, list[tuple[int, str, str]]] = {
    "simple add": [
        (20, "host", ""),  # aten::add
        (30, "launch", "add"),  # the queue was empty: launch delay
        (60, "kernels", "add"),
        (64, "host", "DeviceSynchronize"),
    ],
    "chain": [
        (5, "host", ""),  # aten::conv2d, aten::cudnn_convolution
        (15, "launch", "conv0"),
        (215, "kernels", "conv0"),
        (216, "idle", "conv1"),  # kernel to kernel from here on: each was launched long before
        (416, "kernels", "conv1"),
        (417, "idle", "conv2"),
        (617, "kernels", "conv2"),
        (618, "idle", "conv3"),
        (818, "kernels", "conv3"),
        (819, "idle", "conv4"),
        (1019, "kernels", "conv4"),
        (1023, "host", "DeviceSynchronize"),
    ],
    "event of one stream": [
        (10, "host", ""),  # aten::mm
        (20, "launch", "first"),
        (120, "kernels", "first"),
        (124, "host", "EventSynchronize"),  # recorded after `first`: `second` is not waited for
        (424, "host", "LaunchKernel"),  # aten::sort
        (434, "launch", "third"),
        (484, "kernels", "third"),
        (488, "host", "DeviceSynchronize"),
    ],
    "event between streams": [
        (10, "host", ""),  # aten::mm
        (20, "launch", "producer"),
        (170, "kernels", "producer"),
        (250, "kernels", "consumer"),  # of the other stream, which waited for the event: weight 0
        (254, "host", "DeviceSynchronize"),
    ],
    "nested operators": [
        (30, "host", ""),  # aten::linear to 10 us, aten::addmm
        (35, "launch", "LaunchKernel"),  # the call itself: its kernel is not on the path
        (243, "host", "LaunchKernel"),  # aten::addmm to 38 us, aten::linear to 238 us, aten::relu
        (253, "launch", "relu"),
        (283, "kernels", "relu"),
        (287, "host", "DeviceSynchronize"),
    ],
    "empty queue": [
        (30, "host", ""),  # aten::op0; no kernel before the last one delays anything
        (35, "launch", "LaunchKernel"),
        (65, "host", "LaunchKernel"),
        (70, "launch", "LaunchKernel"),
        (100, "host", "LaunchKernel"),
        (105, "launch", "LaunchKernel"),
        (135, "host", "LaunchKernel"),
        (145, "launch", "k3"),
        (150, "kernels", "k3"),
        (154, "host", "DeviceSynchronize"),
    ],
    "deep queue": [
        (3, "host", ""),
        (13, "launch", "k0"),
        (113, "kernels", "k0"),
        (114, "idle", "k1"),
        (214, "kernels", "k1"),
        (215, "idle", "k2"),
        (315, "kernels", "k2"),
        (316, "idle", "k3"),
        (416, "kernels", "k3"),
        (420, "host", "DeviceSynchronize"),
    ],
}


def test_every_case_has_its_path() -> None:
    assert set(EXPECTED) == set(HTA_CASES)
    for case, rows in EXPECTED.items():
        assert rows[-1][0] * 1000 == simulate(hta_case(case)).span_ns


@pytest.mark.first_case
@pytest.mark.parametrize("case", HTA_CASES)
@pytest.mark.parametrize("form", WRITERS)
def test_path_is_that_of_hta(tmp_path: Path, case: str, form: str) -> None:
    WRITERS[form](simulate(hta_case(case)), tmp_path)
    segments = critical_path(open_run(tmp_path)).segments
    name = pl.col("name").cast(pl.String).str.replace("^(hip|cuda)", "")
    until = (pl.col("end_ns") - BASE_NS[form]) // 1000
    assert segments.select(until, pl.col("class").cast(pl.String), name).rows() == EXPECTED[case]


def test_operators_of_host_code_are_told(tmp_path: Path) -> None:
    write_kineto(simulate(hta_case("event of one stream")), tmp_path)
    segments = critical_path(open_run(tmp_path)).segments
    longest = segments.filter(pl.col("class").cast(pl.String) == "host").sort(pl.col("end_ns") - pl.col("start_ns"))
    assert longest["stack"][-1] == "aten::sort"
