"""Quantities of a kernel that are made of its counters."""

from __future__ import annotations

from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.analysis.counters.limiters.kernel_values import channel_values, memory_values


def test_the_busiest_channel_is_as_much_above_the_mean_as_its_requests() -> None:
    values = channel_values([10.0, 10.0, 10.0, 50.0], 4, EvidenceValue("l2_bandwidth", 30.0))
    assert values["channel_imbalance"].number == 2.5
    assert values["busiest_channel"].number == 75.0


def test_channels_that_were_not_collected_say_so() -> None:
    values = channel_values([], 4, EvidenceValue("l2_bandwidth", 30.0))
    assert values["busiest_channel"].missing == ("TCC_REQ",)
    assert "only 2 of 4 channels" in channel_values([1.0, 2.0], 4, None)["channel_imbalance"].reason


def test_the_share_of_the_memory_has_the_level_of_its_verdict() -> None:
    row = {"kernel_name": "copy", "hit_rate": 0.02, "peak_share": 0.55, "read_32b_share": 0.0}
    value = memory_values(row, EvidenceValue("memory_bandwidth", None))["memory_bandwidth"]
    assert (round(value.number or 0.0, 6), value.level) == (55.0, 1)
