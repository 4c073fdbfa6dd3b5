"""Resident waves over time, and the number that would fit."""

from __future__ import annotations

from wavewright.analysis.trace.occupancy import Occupancy
from wavewright.analysis.trace.waves.residency import Residency
from wavewright.base.words import counted
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.writers.svg.plot_areas import draw_area
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, left_axis, plain, round_ticks
from wavewright.writers.svg.plot_frame import SMALL, Frame, width_of
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_TOP = 8
_BINS = 200
_NOTE = "Waves on all CUs of a shader engine, from the first wave on it to the last"
_FITS = "The dashed line: as many as fit on the SIMDs that held waves"
_FAR = 4.0  #: Times the most waves that were there, from which what fits is said and not drawn.


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """A curve per shader engine, with what fits as a line where it is near."""
    from wavewright.analysis.trace.waves.residency import residency

    trace = document.trace
    curves = document.kept(("plot", "residency"), lambda: residency(trace, bins=_BINS))
    if not curves:
        raise UsageError("starts and ends of waves were not traced", where=document.label)
    answer, why = _limits(document)
    shown = curves[: top or _TOP]
    panel = 150.0 if len(shown) <= 2 else 104.0
    high = max(max(curve.waves_mean) for curve in curves) or 1.0
    fits = _fitting(answer)
    drawn = {se: waves for se, waves in fits.items() if waves <= _FAR * high}
    if answer is not None and answer.kernels.height:
        from wavewright.words.trace.occupancy import occupancy_report

        sentence = headline(occupancy_report(answer, (), limit=1))
    else:
        sentence = f"At most {high:.1f} waves are resident on a shader engine; how many fit is not known: {why}."
    notes = [_NOTE, _FITS if drawn else ""]
    if fits and not drawn:
        notes.append(f"as many as {max(fits.values()):,} waves fit on the SIMDs of a shader engine that held waves")
    frame = Frame(
        "occupancy",
        "Resident waves over time",
        sentence,
        height=panel * len(shown) + 42,
        theme=theme,
        note=sentences(*notes, rows_shown(len(shown), len(curves), "shader engines", "the first")),
    )
    high = max([high, *drawn.values()])
    ticks = round_ticks(0, high, 4)
    left = frame.left + max(width_of(plain(tick), SMALL) for tick in ticks) + 12
    across = Scale(0, max(curve.end_cycles - curve.start_cycles for curve in shown), left, frame.right)
    for number, curve in enumerate(shown):
        base = frame.top + panel * (number + 1)
        up = Scale(0, high, base, base - panel + 30)
        name = f"SE {curve.se}, waves (at most {counted(round(max(curve.waves_mean)), 'waves')})"
        left_axis(frame.svg, up, ticks, left=left, right=frame.right, name=name)
        draw_area(frame.svg, "blue", _steps(curve), across, up)
        if curve.se in drawn:
            frame.svg.line("p-mark", [(left, up.at(drawn[curve.se])), (frame.right, up.at(drawn[curve.se]))])
        frame.svg.line("p-rule", [(left, base), (frame.right, base)])
    bottom = frame.top + panel * len(shown)
    bottom_axis(frame.svg, across, round_ticks(0, across.high, 8), top=bottom, bottom=bottom, name="cycles")
    return frame.picture()


def _limits(document: Document) -> tuple[Occupancy | None, str]:
    from wavewright.analysis.trace.occupancy import occupancy

    try:
        return document.kept(("topic", "occupancy"), lambda: occupancy(document.trace)), ""
    except UsageError as error:
        return None, error.what


def _fitting(answer: Occupancy | None) -> dict[int, int]:
    """Shader engine -> waves of the kernel with the most waves that fit on its SIMDs; nothing where it is not known."""
    if answer is None or not answer.kernels.height:
        return {}
    most = answer.kernels.sort("wave_count", descending=True, nulls_last=True)["waves_per_simd_limit"][0]
    return {} if most is None else {se: most * simds for se, simds in answer.engines.select("se", "simd_count").rows()}


def _steps(curve: Residency) -> list[tuple[float, float, float]]:
    length = (curve.end_cycles - curve.start_cycles) / len(curve.waves_mean)
    return [(length * at, length * (at + 1), mean) for at, mean in enumerate(curve.waves_mean)]
