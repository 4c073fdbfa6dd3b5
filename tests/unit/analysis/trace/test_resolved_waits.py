"""The native resolving of waits against a plain one, on random programs of every generation."""

from __future__ import annotations

from random import Random

import pytest

from tests.kit.small_traces import small_trace
from tests.unit.analysis.spelled_out_waits import spelled_out
from wavewright.analysis.trace.waits.wait_producers import family_of_trace, resolve
from wavewright.model.trace import ThreadTrace

TEXTS = {
    "gfx942": [
        "global_load_dword v0, v[0:1], off",
        "global_store_dword v[0:1], v2, off",
        "ds_read_b32 v0, v1",
        "ds_bpermute_b32 v0, v1, v2",
        "s_load_dword s0, s[2:3], 0x0",
        "flat_load_dword v0, v[0:1]",
        "v_add_f32 v0, v1, v2",
        "s_waitcnt vmcnt(0)",
        "s_waitcnt vmcnt(2)",
        "s_waitcnt lgkmcnt(0)",
        "s_waitcnt lgkmcnt(1)",
        "s_waitcnt vmcnt(1) lgkmcnt(0)",
    ],
    "gfx1100": [
        "global_load_b32 v0, v[0:1], off",
        "image_sample v0, v[0:1], s[0:7], s[8:11]",
        "global_store_b32 v[0:1], v2, off",
        "ds_load_b32 v0, v1",
        "s_load_b32 s0, s[2:3], 0x0",
        "flat_store_b32 v[0:1], v2",
        "s_waitcnt vmcnt(1)",
        "s_waitcnt vmcnt(0)",
        "s_waitcnt_vscnt null, 0x1",
        "s_waitcnt lgkmcnt(2)",
        "s_waitcnt lgkmcnt(0)",
        "s_waitcnt vmcnt(0) lgkmcnt(1)",
    ],
    "gfx1201": [
        "global_load_b32 v0, v[0:1], off",
        "image_sample v0, v[0:1], s[0:7], s[8:11]",
        "global_store_b32 v[0:1], v2, off",
        "ds_load_b32 v0, v1",
        "s_load_b32 s0, s[2:3], 0x0",
        "flat_load_b32 v0, v[0:1]",
        "s_wait_loadcnt 0x1",
        "s_wait_loadcnt_dscnt 0x102",
        "s_wait_storecnt_dscnt 0x1",
        "s_wait_kmcnt 0x0",
        "s_wait_kmcnt 0x2",
        "s_wait_idle",
    ],
}


def random_trace(target: str, seed: int) -> ThreadTrace:
    """A few waves of random instructions; without flat operations every other time, which leave little to tell."""
    random = Random(seed)
    texts = TEXTS[target]
    rows = [row for row, text in enumerate(texts) if seed % 2 or not text.startswith("flat")]
    steps = []
    for wave in range(3):
        time = 0
        for _ in range(120):
            stall, issue = random.choice((0, 4, 40)), random.choice((1, 4))
            steps.append((random.choice(rows), "VMEM", time, stall, stall + issue, wave))
            time += stall + issue + random.choice((0, 4))
    return small_trace(texts, steps, target=target)


@pytest.mark.first_case
@pytest.mark.parametrize("target", TEXTS)
@pytest.mark.parametrize("seed", range(12))
def test_equals_the_plain_one(target: str, seed: int) -> None:
    trace = random_trace(target, seed)
    resolved = resolve(trace)
    expected = spelled_out(trace, family_of_trace(trace), resolved.free_wait_cycles)
    for column, counts in (
        ("count", expected.certain),
        ("candidate_count", expected.perhaps),
        ("last_count", expected.last),
    ):
        found = {
            (row["row"], row["producer_row"], row["counter"]): row[column]
            for row in resolved.edges.iter_rows(named=True)
            if row[column]
        }
        assert found == {key: count for key, count in counts.items() if count}
    samples = resolved.samples.select("row", "latency_cycles", "is_tight", "count").iter_rows()
    assert {(row, latency, bool(tight)): count for row, latency, tight, count in samples} == expected.samples
