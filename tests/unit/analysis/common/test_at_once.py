"""Tasks side by side: results in order, errors, and the switch of whoever asked."""

from __future__ import annotations

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from wavewright import decode
from wavewright.analysis.common.stop import Stopped, StopSwitch, at_once, obeying
from wavewright.analysis.trace.costs.row_costs import hidden_in_part


def test_results_stand_in_the_order_of_tasks_and_errors_come_out():
    assert at_once([lambda number=number: number * number for number in range(9)]) == [n * n for n in range(9)]
    assert at_once([]) == []
    with pytest.raises(ZeroDivisionError):
        at_once([lambda: 1, lambda: 1 // 0])


def test_work_on_other_threads_obeys_the_switch_of_this_one(tmp_path):
    write_capture(synthesize(Scenario(kernels=(compiled("tiled_gemm", "gfx942"),))), tmp_path)
    trace = decode(tmp_path)
    switch = StopSwitch()
    tasks = [lambda: hidden_in_part(trace, trace, "corrected").height] * 2
    with obeying(switch):
        heights = at_once(tasks)
        switch.stop()
        with pytest.raises(Stopped):
            at_once(tasks)
    assert heights == at_once(tasks)
    assert heights[0] > 0
