"""Traces with counters, made from samples."""

from __future__ import annotations

from collections.abc import Sequence

from tests.kit.made_traces import made
from tests.kit.ui_directories import frame
from wavewright.model.trace import ThreadTrace

Sample = tuple[int, int, int, int, tuple[int, int, int, int]]


def counted(
    samples: Sequence[Sample], names: Sequence[str] = (), pairs: Sequence[tuple[int, int, int]] = ()
) -> ThreadTrace:
    """Samples: shader engine, CU, bank, cycle, four values; pairs: shader engine, shader clock, wall clock."""
    columns = {
        "se": [sample[0] for sample in samples],
        "cu": [sample[1] for sample in samples],
        "bank": [sample[2] for sample in samples],
        "time_cycles": [sample[3] for sample in samples],
        **{f"value{at}": [sample[4][at] for sample in samples] for at in range(4)},
    }
    named = {
        "bank": [number // 4 for number in range(len(names))],
        "position": [number % 4 for number in range(len(names))],
        "name": list(names),
    }
    clocks = zip(*pairs, strict=True) if pairs else ((), (), ())
    realtime = dict(zip(("se", "shader_clock_cycles", "realtime_ticks"), clocks, strict=True))
    engines = sorted({sample[0] for sample in samples})
    return made(
        [],
        sampled_counters=frame("sampled_counters", columns),
        counter_names=frame("counter_names", named),
        realtime=frame("realtime", realtime),
        shader_engines=frame("shader_engines", {"se": engines}, gfxip=9, realtime_hz=100_000_000),
    )
