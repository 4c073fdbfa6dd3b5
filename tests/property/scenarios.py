"""Random scenarios of a family."""

from __future__ import annotations

from hypothesis import strategies as st

from synth import KernelImage, Scenario, compiled, tour
from synth.kernels import KERNELS

TARGETS = {
    "gfx9": ("gfx942", "gfx950"),
    "gfx10": ("gfx1030",),
    "gfx11": ("gfx1100",),
    "gfx12": ("gfx1201",),
    "gfx1250": ("gfx1250",),
}
VERSIONS = {"gfx9": (4, 5, 6), "gfx10": (1, 2), "gfx11": (3,), "gfx12": (4,), "gfx1250": (5,)}


def kernels(family: str) -> st.SearchStrategy[tuple[KernelImage, ...]]:
    """One to three kernels, of one or several code objects."""
    images = [tour(target, name) for target in TARGETS[family] for name in ("tour", "copy")]
    if family != "gfx1250":  # the compiled kernels are not made for it
        images += [compiled(name, target) for target in TARGETS[family] for name in KERNELS]
    return st.lists(st.sampled_from(images), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def scenarios(draw: st.DrawFn, family: str, *, whole: bool = False) -> Scenario:
    """Any scenario; `whole` ones keep every byte."""
    flags = {
        name: draw(st.booleans())
        for name in (
            "unload", "same_address", "wide_ids", "counters", "shader_data", "extended_starts", "execution_tokens",
            "double_buffer", "loss",
        )
    }  # fmt: skip
    counts = {
        name: draw(st.integers(0, most))
        for name, most in (
            ("other_waves", 8), ("earlier_waves", 2), ("realtime_pairs", 6), ("events", 8), ("other_simd", 8),
            ("noise", 8),
        )
    }  # fmt: skip
    waves_per_simd = draw(st.integers(1, 10))
    room = waves_per_simd * (4 if family == "gfx9" else 1)
    return Scenario(
        family=family,
        kernels=draw(kernels(family)),
        dispatches=draw(st.integers(1, 3)),
        workgroups=draw(st.integers(1, 4)),
        waves_per_workgroup=draw(st.integers(1, min(room, 4))),
        waves_per_simd=waves_per_simd,
        loop_trips=draw(st.integers(1, 4)),
        seed=draw(st.integers(0, 1 << 16)),
        target_cu=draw(st.integers(0, 7)),
        target_simd=draw(st.integers(0, 3)),
        stream_version=draw(st.sampled_from(VERSIONS[family])),
        markers=draw(st.sampled_from(("start", "late", "during", "none"))),
        keep_share=None if whole else draw(st.none() | st.floats(0.01, 0.99)),
        **flags,
        **counts,
    )
