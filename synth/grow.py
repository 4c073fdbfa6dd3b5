"""Long traces out of short ones: whole dispatch windows repeated, with the clock running on."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from synth.gfx9_tokens import HEADER, LEGACY_VERSION, TIMESTAMP, TOKENS
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from synth.scenario import SyntheticTrace

_HEADER_BYTES = HEADER.bits // 8
_TOKEN_BYTES = tuple(layout.bits // 8 for layout in TOKENS)
_TIME_SHIFT, _TIME_LAST_BIT = TIMESTAMP.fields["time"]
_TIME_MASK = (1 << (_TIME_LAST_BIT - _TIME_SHIFT + 1)) - 1
_IDLE_CYCLES = 4096  # between two copies of a stream whose end is not known


@dataclass(frozen=True)
class GrownTrace:
    """A long buffer and how many traced waves and instructions decoding it gives.

    Examples
    --------
    >>> GrownTrace(b"", waves=0, instructions=0).waves
    0
    """

    data: bytes = field(repr=False)
    waves: int
    instructions: int


def grow(trace: SyntheticTrace, size_bytes: int | None = None, *, factor: int | None = None) -> GrownTrace:
    """Repeat a trace's dispatch windows until the buffer has at least `size_bytes`, or `factor` times.

    Raises
    ------
    UsageError
        Not exactly one of the two is given, or the trace was cut.

    Examples
    --------
    >>> from synth import Scenario, synthesize
    >>> trace = synthesize(Scenario(family="gfx11", workgroups=1)).traces[0]
    >>> grow(trace, factor=3).waves == 3 * trace.truth.wave_count
    True
    """
    begin, end = trace.windows
    if (factor is None) == (size_bytes is None) or (factor is not None and factor < 1):
        problem = "a trace grows to a size, or by a factor of at least 1"
        raise UsageError(problem)
    if trace.plan.keep_share is not None:
        problem = "a trace that was cut cannot grow: its last window is not whole"
        raise UsageError(problem)
    if factor is None:
        missing = (size_bytes or 0) - len(trace.data)
        factor = 1 + max(0, -(-missing // (end - begin)))
    windows = trace.data[begin:end]
    span = trace.plan.windows_end - trace.plan.windows_begin
    gfx9 = trace.plan.family == "gfx9"
    body = _repeat_gfx9(windows, factor, span) if gfx9 else windows * factor
    tail = trace.data[end:]
    if gfx9:
        tail = _repeat_gfx9(tail, 1, span, first=factor - 1)
    truth = trace.truth
    return GrownTrace(trace.data[:begin] + body + tail, truth.wave_count * factor, truth.instruction_count * factor)


def repeat_stream(data: bytes, factor: int) -> bytes:
    """Repeat any raw buffer, for benchmarks on real captures. It need not consist of whole windows.

    gfx9: the tokens behind the header are repeated and absolute times moved on; RDNA: the whole stream, whose times
    are all relative, is repeated.

    Examples
    --------
    >>> repeat_stream(bytes.fromhex("91"), 2).hex()
    '9191'
    """
    header = HEADER.unpack(int.from_bytes(data[:_HEADER_BYTES], "little"))
    if header["legacy"] not in (0, LEGACY_VERSION) or header["version"] not in (4, 5, 6):
        return data * factor
    body = data[_HEADER_BYTES : _whole_tokens_end(data)]
    times = [_time_at(body, at) for at in _timestamps(body)]
    span = (max(times) - min(times) + _IDLE_CYCLES) & ~3 if times else 0
    return data[:_HEADER_BYTES] + _repeat_gfx9(body, factor, span)


def _token_starts(data: bytes, begin: int) -> array[int]:
    """Starts of tokens; the last entry is the end of the last complete one."""
    starts = array("q")
    at, size, lengths = begin, len(data), _TOKEN_BYTES
    while at < size:
        starts.append(at)
        at += lengths[data[at] & 15]
    if at == size:
        starts.append(at)
    return starts


def _whole_tokens_end(data: bytes) -> int:
    return _token_starts(data, _HEADER_BYTES)[-1]


def _timestamps(body: bytes) -> list[int]:
    kind = TIMESTAMP.prefix
    return [at for at in _token_starts(body, 0) if at < len(body) and body[at] & 15 == kind]


def _time_at(body: bytes, at: int) -> int:
    return int.from_bytes(body[at : at + 8], "little") >> _TIME_SHIFT


def _repeat_gfx9(body: bytes, factor: int, span: int, first: int = 0) -> bytes:
    """`factor` copies with the absolute times of copy k moved by (first + k) * span cycles."""
    stamps = [(at, int.from_bytes(body[at : at + 8], "little")) for at in _timestamps(body)]
    low = (1 << _TIME_SHIFT) - 1
    copies = []
    for copy in range(first, first + factor):
        moved = bytearray(body)
        for at, word in stamps:
            time = (word >> _TIME_SHIFT) + copy * span & _TIME_MASK
            moved[at : at + 8] = (word & low | time << _TIME_SHIFT).to_bytes(8, "little")
        copies.append(bytes(moved))
    return b"".join(copies)
