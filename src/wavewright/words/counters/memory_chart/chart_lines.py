"""The numbers of a memory chart in few characters, the same in every picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration
from wavewright.words.kit.brief_names import brief

NOT_MEASURED = "?"
CU_SECTIONS = ("waves", "instructions", "exec")  #: Blocks of stage 0, which share one box.
_KINDS = {"read": "rd", "write": "wr", "atomic": "at", "request": "rq"}
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL = 0.01  #: Numbers below are written with an exponent.
_LEAST_PERCENT = 0.05  #: Shares below would be written as 0.0 %.
_LEAST_NAME = 12  #: Characters that the name of a kernel gets at least.
_PER = {"kernel": "per dispatch", "wave": "per wave", "cycle": "per cycle", "second": "per second"}


@dataclass(frozen=True)
class Line:
    """A label and a value; `share` is a part of a peak, to be drawn as a bar."""

    label: str
    value: str
    heat: str = ""  #: good, warm, hot or empty.
    share: float | None = None  #: Percent.
    is_idle: bool = False  #: Whether nothing flows, or nothing is known.
    amount: float | None = None  #: Of wires: the requests.
    hint: str = ""  #: Metric and meaning, or why there is no value.


@dataclass(frozen=True)
class Columns:
    """The blocks of a chart from left to right; None and () = there is none."""

    near: tuple[str, ...]  #: Caches beside the CUs.
    hub: str | None  #: What they all ask.
    onward: str | None  #: What that asks.
    far: tuple[str, ...]  #: What comes behind it.


def columns_of(answer: MemoryChart) -> Columns:
    """Position of each block."""
    stages: dict[int, list[str]] = {}
    for block, stage in answer.blocks.select("block", "stage").iter_rows():
        stages.setdefault(min(stage, 4), []).append(block)
    hub, onward = (stages.get(stage, [None])[0] for stage in (2, 3))
    return Columns(tuple(stages.get(1, ())), hub, onward, tuple(stages.get(4, ())))


def scaled(value: float) -> str:
    """A number with three digits and a letter for thousands.

    >>> scaled(1_048_576), scaled(65_775), scaled(12.345), scaled(0.0123), scaled(0)
    ('1.05 M', '65.8 k', '12.3', '0.012', '0')
    """
    if value == 0:
        return "0"
    for size, letter in _SCALES:
        if abs(value) >= 0.9995 * size:
            return f"{_three_digits(value / size)} {letter}"
    return _three_digits(value) if abs(value) >= _SMALL else f"{value:.1e}"


def _three_digits(value: float) -> str:
    size = abs(value)
    if float(value).is_integer() and size < 1000:
        return f"{value:.0f}"
    return f"{value:.{2 if 1 <= size < 9.995 else 3 if size < 1 else 1 if size < 99.95 else 0}f}"


def number(value: float | None, unit: str) -> str:
    """A value in its unit.

    >>> number(45.34, "%"), number(3214.0, "GB/s"), number(None, "%"), number(65536.0, "Bytes"), number(2e6, "Req")
    ('45.3 %', '3.21 TB/s', '?', '65.5 kB', '2 M')
    """
    if value is None:
        return NOT_MEASURED
    if unit == "%":
        if 0 < value < _LEAST_PERCENT:
            return f"<{2 * _LEAST_PERCENT} %"
        return f"{value:.1f} %" if 0 != abs(value) < 99.95 else f"{value:.0f} %"
    if unit == "GB/s":
        text = scaled(value * 1e9)
        return f"{text}B/s" if text[-1].isalpha() else f"{text} B/s"
    if unit.startswith("Bytes"):
        text = scaled(value)
        return f"{text}B" if text[-1].isalpha() else f"{text} B"
    return scaled(value)


def headline(answer: MemoryChart) -> str:
    """The level nearest to its peak, as a sentence."""
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    if not answer.busiest:
        is_hit = (answer.values["block"] == "l2") & (answer.values["label"] == "hit rate")
        rates = answer.values.filter(is_hit)["value"].drop_nulls()
        sentence = f"{titles['l2']} hit rate {number(rates[0], '%')}; no" if rates.len() else "No"
        return f"{sentence} traffic can be compared with a peak"
    row = answer.values.filter(answer.values["is_rate"] & (answer.values["block"] == answer.busiest)).row(0, named=True)
    sentence = (
        f"{titles[answer.busiest]}: {number(row['value'], row['unit'])}, {number(row['peak_share'], '%')} of its peak"
    )
    return sentence if row["heat"] else f"No level is near its peak; nearest is {sentence}"


def subject(answer: MemoryChart, *, width: int | None = None) -> str:
    """The subject of the chart: kernels, dispatches, GPU and normalization; names are cut to fit `width`."""
    names = answer.kernel_names
    kernels = names[0] if len(names) == 1 else f"{len(names):,} kernels together"
    mean = answer.duration_ns_mean
    count = counted(answer.dispatch_count, "dispatches")
    time = "" if mean is None else f" of {duration(mean)}"
    gpu = f"{answer.target} {answer.product}".strip()
    rest = " · ".join((f"{count}{time}", gpu, f"requests {_PER[answer.normalization]}"))
    room = len(printable(kernels)) if width is None else max(_LEAST_NAME, width - len(rest) - 3)
    return f"{brief(kernels, room)} · {rest}"


def block_lines(answer: MemoryChart, block: str) -> list[Line]:
    """The lines of one block: traffic with its share of the peak first."""
    rows = answer.values.filter(answer.values["block"] == block)
    return [_line(row) for row in rows.iter_rows(named=True)]


def _line(row: dict[str, Any]) -> Line:
    text = number(row["value"], row["unit"])
    if not row["is_rate"] and row["peak"] is not None and row["value"] is not None:
        text = f"{text} of {scaled(row['peak'])}"
    share = row["peak_share"] if row["is_rate"] else None
    return Line(row["label"], text, row["heat"], share, is_idle=not row["value"], hint=_hint(row))


def _hint(row: dict[str, Any]) -> str:
    tooltip = row["reason"] or row.get("about") or ""
    return f"{row['metric_id']}: {tooltip}" if tooltip else row["metric_id"]


def wire_lines(answer: MemoryChart, source: str, target: str) -> list[Line]:
    """The traffic on one wire, one kind after the other; bytes per second last."""
    wires = answer.wires.filter((answer.wires["source"] == source) & (answer.wires["target"] == target))
    lines = []
    rates = []
    for row in wires.iter_rows(named=True):
        if row["kind"] == "traffic":
            rates.append((row["rate"], row["rate_share"]))
            continue
        if row["rate"] is not None:
            rates.append((row["rate"], row["rate_share"]))
        value = number(row["value"], row["unit"])
        idle, amount, hint = not row["value"], row["value"], _hint(row)
        lines.append(Line(_KINDS[row["kind"]], value, row["heat"], is_idle=idle, amount=amount, hint=hint))
    recorded_rates = [rate for rate, _ in rates if rate is not None]
    if recorded_rates and len(recorded_rates) == len(rates):  # a sum without some of them would be too low
        heat = max((row["heat"] for row in wires.iter_rows(named=True)), key=("", "warm", "hot").index)
        lines.append(Line("", number(sum(recorded_rates), "GB/s"), heat, is_idle=not sum(recorded_rates)))
    return lines
