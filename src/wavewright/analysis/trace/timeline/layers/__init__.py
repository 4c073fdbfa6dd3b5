"""The timelines of a thread trace: what happened on every track of the hardware, when, and of which kind."""

from __future__ import annotations

from wavewright.analysis.common.timeline import Timeline
from wavewright.analysis.trace.code.marker_scopes import marker_scopes
from wavewright.analysis.trace.timeline.layers.event_layer import events, markers, other_simd, shader_data
from wavewright.analysis.trace.timeline.layers.instructions import instructions, stalls
from wavewright.analysis.trace.timeline.layers.pipes import pipes
from wavewright.analysis.trace.timeline.layers.wave_layer import by_dispatch, by_duration, by_workgroup, states, waves
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.model.trace import ThreadTrace

_LAYERS = (
    waves, instructions, states, pipes, markers, shader_data, other_simd, events,
    stalls, by_workgroup, by_dispatch, by_duration,
)  # fmt: skip


def layers(trace: ThreadTrace) -> dict[str, Timeline]:
    """Every timeline of a trace that has something to show, by name."""
    timelines = (make(trace) for make in _LAYERS)
    return {layer.name: layer for layer in timelines if layer and layer.tracks is not None and layer.tracks.height}


def item_counts(trace: ThreadTrace) -> dict[str, int]:
    """Number of items of the timelines whose spans represent rows of a separate table, by name."""
    return {
        "waves": resident_waves(trace).height,
        "events": trace.dispatches.height + trace.events.height,
        "markers": marker_scopes(trace).scopes.height,
        "shader_data": trace.shader_data.height,
    }
