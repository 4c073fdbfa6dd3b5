"""The facts about a thread trace that every view needs: times, completeness, contents."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wavewright.analysis.trace.about.overview import losses_of, traced_span, unknown_code
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.listing import matched_waits
from wavewright.model.document import Document
from wavewright.model.losses import LOSSES
from wavewright.model.schema import CATEGORIES, SAMPLE_REASONS, STATES
from wavewright.model.traced_span import clock_mhz
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.trace.answers import traced_kernels
from wavewright.page.trace.times import time_range, traced_range


def overview_of_trace(document: Document) -> dict[str, Any]:
    """Facts that every view needs: times in aligned cycles, counts, kernels, losses, and which tables have rows."""
    trace = document.trace
    start, end = time_range(trace)
    window = traced_range(trace)
    clocks = alignment(trace)
    return {
        "kind": "trace",
        "source": trace.source,
        "gfxip": trace.gfxip,
        "start_cycles": start,
        "end_cycles": end,
        "span_cycles": traced_span(trace),
        "traced_start_cycles": window and window[0],
        "traced_end_cycles": window and window[1],
        "clock_mhz": clock_mhz(trace),
        "clocks": {"offsets": clocks.offsets, "is_aligned": clocks.is_aligned, "reason": clocks.reason},
        "wave_count": trace.waves.height,
        "instruction_count": trace.instruction_count,
        "row_count": trace.code.height,
        "line_row_count": trace.code["line"].drop_nulls().len(),
        "unknown_code": unknown_code(trace),
        "kernels": trace.kernels.to_dicts(),
        "traced_kernels": list(traced_kernels(document)),
        "losses": [asdict(loss) | {"counted_in": LOSSES[loss.kind].counted_in} for loss in losses_of(trace)],
        "categories": CATEGORIES,
        "states": STATES,
        "sample_reasons": SAMPLE_REASONS,
        "holds": {
            name: trace.table(name).height
            for name in ("waves", "states", "occupancy", "sampled_counters", "shader_data", "markers", "other_simd",
                         "events", "samples", "annotations", "sources", "realtime")
        } | {"waits": int(any(piece.height for piece in matched_waits(trace)))},
    }  # fmt: skip


QUESTIONS = (PageQuestion("overview", overview_of_trace),)
