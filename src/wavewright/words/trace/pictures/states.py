"""The picture of the states of waves over time: a stack per shader engine."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.waves.states import States
from wavewright.base.words import percent
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.charts import SHADES, dense
from wavewright.writers.svg.plot_areas import draw_stack
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, left_axis, unit_ticks
from wavewright.writers.svg.plot_frame import Frame, Key
from wavewright.writers.svg.plot_words import listed, rows_shown, sentences

_TOP, _BINS = 8, 160  #: Shader engines unless a number is asked for, and points of time.
_COLOURS = {"EXEC": "green", "STALL": "red", "WAIT": "orange", "IDLE": "grey", "EMPTY": "sky", "OTHER": "pink"}
_WORDS: dict[str, str] = packaged("texts.toml", "wavewright.words.trace")["states"]


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """The number of traced waves in each state over time, a stack per shader engine."""
    from wavewright.analysis.trace.waves.states import states

    answer: States = document.kept(("plot", "states"), lambda: states(document.trace, bins=_BINS))
    if not answer.total.height or answer.end_cycles <= answer.start_cycles:
        raise UsageError("no states of waves were traced", where=document.label)
    shares = dict(answer.total.select("state", "share").rows())
    names = [name for name in SHADES if shares.get(name)]
    engines = answer.over_time.sort("se", "bin").partition_by("se", as_dict=True, maintain_order=True)
    shown = list(engines.items())[: top or _TOP]
    panel = 150.0 if len(shown) <= 2 else 104.0  # height of a stack
    named_shares = [f"{name} {percent(shares[name])}" for name in sorted(names, key=lambda name: (-shares[name], name))]
    several = "" if len(engines) == 1 else f" on {len(engines)} shader engines"
    frame = Frame(
        "states",
        "States of waves over time",
        f"Traced waves{several} spend their cycles in {listed(named_shares)}.",
        height=panel * len(shown) + 42,
        theme=theme,
        legend=[Key(_COLOURS[name], _WORDS[name]) for name in names],
        note=sentences(rows_shown(len(shown), len(engines), "shader engines", "the first")),
    )
    sums = answer.over_time.group_by("se", "bin").agg(pl.col("wave_count_mean").sum())
    high = float(sums["wave_count_mean"].max() or 1)  # type: ignore[arg-type]  # a number
    ticks = unit_ticks(high, count=4)
    left = frame.left + ticks.room
    across = Scale(0, answer.end_cycles - answer.start_cycles, left, frame.right)
    borders = [min(answer.bin_cycles * at, across.high) for at in range(answer.bin_count + 1)]
    for number, ((se,), rows) in enumerate(shown):
        base = frame.top + panel * (number + 1)
        up = Scale(0, high, base, base - panel + 30)
        left_axis(frame.svg, up, ticks, left=left, right=frame.right, name=f"SE {se}, waves")
        series = [
            (_COLOURS[name], dense(rows.filter(rows["state"] == name), "wave_count_mean", answer.bin_count))
            for name in names
        ]
        draw_stack(frame.svg, series, borders, across, up)
        frame.svg.line("p-rule", [(left, base), (frame.right, base)])
    bottom = frame.top + panel * len(shown)
    mhz = answer.clocks.clock_mhz
    name = f"cycles ({across.high / mhz:,.1f} us)" if mhz else "cycles"
    bottom_axis(frame.svg, across, unit_ticks(across.high, count=8), top=bottom, bottom=bottom, name=name)
    return frame.picture()
