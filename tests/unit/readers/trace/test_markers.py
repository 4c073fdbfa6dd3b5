"""Markers through the whole decoder: small streams written here, one wave slot after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl
import pytest

from wavewright import _core
from wavewright.model.losses import CORE_LOSSES
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.trace.att import marker_names, with_marker_names

OBJECT, LOADED_AT, SIZE = 7, 0x10000, 0x8000
LEAVE, ENTER, FIRST = 1, 2, 4
NAMES = b"K:kernel\nF:1:outer@a.hip:3\nU:2:inner\nP:3:point\n"
GENERATIONS = ["gfx9", "gfx10", "gfx11", "gfx12", "gfx1250"]
RDNA_VERSIONS = {"gfx10": 2, "gfx11": 3, "gfx12": 4, "gfx1250": 5}
PROGRAM_LOW, PROGRAM_HIGH, USERDATA2 = 0x0C, 0x0D, 0xC342

Fields = dict[int, int]  # lowest bit -> value


@dataclass
class Stream:
    """Tokens of one generation (spec_gfx9 2.3, spec_rdna 4 and 6) as one long number, lowest bit first."""

    generation: str
    bits: int = 0
    length: int = 0
    version: int = field(init=False)

    def __post_init__(self) -> None:
        self.version = RDNA_VERSIONS.get(self.generation, 0)
        self.token(64, {0: 0x11, 13: 5, 16: 0xF} if not self.version else {0: 0x11, 7: self.version})
        self.instrument(0x434F5200)

    def token(self, length: int, fields: Fields) -> None:
        for bit, value in fields.items():
            self.bits |= value << (self.length + bit)
        self.length += length
        if self.version:  # four cycles behind every token, so that the reader's queue changes no order
            self.bits |= (0x3E if self.version == 5 else 0x08) << self.length
            self.length += 8

    def bytes(self) -> bytes:
        return self.bits.to_bytes((self.length + 7) // 8 + 64, "little")

    def instrument(self, word: int) -> None:
        if self.version:
            self.token(64, {0: 9, 16: USERDATA2, 32: word})
        else:
            self.token(64, {0: 2, 7: 1, 15: 1, 16: USERDATA2, 32: word})

    def load(self, *, code_object: int = OBJECT, address: int = LOADED_AT, from_start: bool = True) -> None:
        words = {5: code_object, 6: 0, 2: address, 3: 0, 1: SIZE, 4: 0, 0: 2 if from_start else 0}
        for kind, word in words.items():
            self.instrument(4 | kind << 8)
            self.instrument(word)

    def start(self, offset: int = 0x100, slot: int = 0, cu: int = 0, simd: int = 0) -> None:
        program = (LOADED_AT + offset) >> 8
        for register, value in ((PROGRAM_LOW, program), (PROGRAM_HIGH, 0)):
            if self.version:
                self.token(64, {0: 9, 15: 1, 16: register, 32: value})
            else:
                self.token(48, {0: 5, 7: 1, 9: register, 16: value})
        if not self.version:
            self.token(32, {0: 3, 6: cu, 10: slot, 14: simd, 22: 64})
        elif self.version <= 3:
            self.token(32, {0: 0xC, 8: simd, 10: cu, 13: slot})
        else:
            self.token(32, {0: 0xC, 8: simd, 10: cu, 15: slot})

    def end(self, slot: int = 0, cu: int = 0, simd: int = 0) -> None:
        if not self.version:
            self.token(16, {0: 6, 6: cu, 10: slot, 14: simd})
        elif self.version < 5:
            self.token(20, {0: 0x15, 9: simd, 11: cu, 15: slot})
        else:
            self.token(24, {0: 0x41, 11: simd, 13: cu, 17: slot})

    def value(self, value: int, slot: int = 0, cu: int = 0, simd: int = 0, *, privileged: bool = False) -> None:
        if not self.version:
            self.token(48, {0: 12, 6: cu, 10: slot, 14: simd, 16: value})
        elif self.version <= 3:
            self.token(52, {0: 6, 9: simd, 11: cu, 15: slot, 20: value})
        else:
            self.token(56, {0: 6, 11: simd, 13: cu, 17: slot, 22: value, 54: int(privileged)})

    def mark(self, marker: int, flags: int = 0, slot: int = 0) -> None:
        self.value(marker << 2 | flags, slot)

    def lose_packets(self) -> None:
        if not self.version:
            self.token(16, {0: 0, 13: 2})
        elif self.version <= 2:
            self.token(24, {0: 0x51, 16: 1})
        elif self.version == 3:
            self.token(24, {0: 0x51})  # the token read before it carries the loss: one without meaning
            self.token(48, {0: 1, 8: 1})
        else:
            self.token(64, {0: 1, 8: 1})


def decoded(stream: Stream, names: bytes | None = NAMES) -> tuple[pl.DataFrame, dict[str, int]]:
    """The markers table, and the counts of losses by kind."""
    program = _core.Program()
    if names is not None:
        program.add_funcmap(OBJECT, names)
    program.link()
    tables = _core.tables(_core.decode([stream.bytes()], program, threads=1)[0])
    core = pl.DataFrame(tables["markers"]).select(pl.lit(0, pl.UInt16).alias("se"), pl.all())
    losses = pl.DataFrame(tables["losses"])
    counts = zip(losses["kind"], losses["count"], strict=True)
    return with_marker_names(core, program), {CORE_LOSSES[kind]: count for kind, count in counts}


def story(markers: pl.DataFrame) -> list[tuple[str, int]]:
    return markers.select("name", "flags").rows()


@pytest.fixture(params=GENERATIONS)
def stream(request: pytest.FixtureRequest) -> Stream:
    return Stream(request.param)


def test_scopes_nest(stream: Stream) -> None:
    stream.load()
    stream.start(0x300, slot=2, cu=3, simd=1)
    for value in (1 << 2 | ENTER, 2 << 2 | ENTER, 3 << 2, LEAVE, LEAVE, LEAVE):
        stream.value(value, slot=2, cu=3, simd=1)
    stream.end(slot=2, cu=3, simd=1)
    markers, losses = decoded(stream)
    expected = [("outer", ENTER | FIRST), ("inner", ENTER), ("point", 0), ("inner", LEAVE), ("outer", LEAVE)]
    assert story(markers) == expected
    assert markers["location"].to_list() == ["a.hip:3", None, None, None, "a.hip:3"]
    assert markers["marker_kind"].to_list() == [1, 2, 3, 2, 1]
    assert markers.select("cu", "simd", "slot", "code_object", "record_kind").unique().rows() == [(3, 1, 2, OBJECT, 0)]
    assert markers["time_cycles"].is_sorted()
    assert markers.schema == {c.name: getattr(pl, c.dtype) for c in THREAD_TRACE["markers"].columns}
    assert "marker_queue_full" not in losses


def test_values_equal_their_shader_data(stream: Stream) -> None:
    stream.load()
    stream.start()
    stream.mark(1, ENTER)
    stream.mark(3)
    program = _core.Program()
    program.add_funcmap(OBJECT, NAMES)
    program.link()
    tables = _core.tables(_core.decode([stream.bytes()], program)[0])
    columns = ["time_cycles", "value", "cu", "simd", "slot"]
    markers, data = (pl.DataFrame(tables[name]).select(columns) for name in ("markers", "shader_data"))
    assert markers.height == 2
    assert markers.equals(data)


def test_names_change_nothing_else(stream: Stream) -> None:
    stream.load()
    stream.start()
    stream.mark(1, ENTER)
    stream.end()
    without, _ = decoded(stream, names=None)
    assert without.height == 0
    tables = []
    for names in (None, NAMES):
        program = _core.Program()
        if names:
            program.add_funcmap(OBJECT, names)
        program.link()
        frames = _core.tables(_core.decode([stream.bytes()], program)[0])
        tables.append({name: pl.DataFrame(frame).rows() for name, frame in frames.items() if name != "markers"})
    assert tables[0] == tables[1]


def test_leave_and_enter_in_one_word(stream: Stream) -> None:
    stream.load()
    stream.start()
    for marker, flags in ((1, ENTER), (2, ENTER | LEAVE), (0, LEAVE), (0, LEAVE)):
        stream.mark(marker, flags)
    assert story(decoded(stream)[0]) == [("outer", ENTER | FIRST), ("inner", ENTER | LEAVE), ("inner", LEAVE)]


def test_unknown_ids_and_other_objects_are_silent(stream: Stream) -> None:
    stream.load()
    stream.load(code_object=8, address=LOADED_AT + SIZE)
    stream.start(slot=0)
    stream.start(SIZE + 0x100, slot=1)  # an object without names
    stream.mark(99, ENTER)
    stream.mark(1, ENTER, slot=1)
    stream.mark(3, slot=5)  # no wave there
    markers, losses = decoded(stream)
    assert markers.height == 0
    assert "marker_queue_full" not in losses


def test_payloads_follow_their_marker(stream: Stream) -> None:
    stream.load()
    stream.start(slot=0)
    stream.start(slot=1)
    stream.mark(3)
    stream.value(0xFFFFFFFF)
    stream.mark(2, ENTER, slot=1)  # another wave's
    stream.mark(2, ENTER)  # payload, whatever it looks like
    stream.mark(2, ENTER)
    markers, _ = decoded(stream, b"P:3:address\nR:3:extra_payload_count=2\nU:2:scope\n")
    expected = [
        ("address", 0, 0, 4294967295, 2, 3 << 2),
        ("address", 0, 1, 0, 2, 0xFFFFFFFF),
        ("scope", 1, 0, 4294967295, 0, 2 << 2 | ENTER),
        ("address", 0, 1, 1, 2, 2 << 2 | ENTER),
        ("scope", 0, 0, 4294967295, 0, 2 << 2 | ENTER),
    ]
    assert markers.select("name", "slot", "record_kind", "payload_index", "payload_count", "value").rows() == expected


def test_a_code_object_may_be_announced_late(stream: Stream) -> None:
    stream.start(slot=0)
    stream.mark(1, ENTER)
    stream.load()
    stream.mark(0, LEAVE)
    stream.end()
    stream.start(slot=0)
    stream.mark(2, ENTER)
    assert story(decoded(stream)[0]) == [("outer", ENTER | FIRST), ("outer", LEAVE), ("inner", ENTER | FIRST)]


def test_a_wave_without_an_end_is_named_at_the_end_of_the_buffer(stream: Stream) -> None:
    stream.start(slot=0)
    stream.mark(1, ENTER)
    stream.start(slot=0)  # the wave before is still waiting
    stream.mark(2, ENTER)
    stream.load()
    assert story(decoded(stream)[0]) == [("inner", ENTER | FIRST), ("outer", ENTER | FIRST)]


def test_a_code_object_that_never_comes_is_a_loss(stream: Stream) -> None:
    stream.start()
    stream.mark(1, ENTER)
    stream.mark(0, LEAVE)
    stream.end()
    markers, losses = decoded(stream)
    assert markers.height == 0
    assert losses["marker_queue_full"] == 2


def test_packet_loss_forgets_the_open_scopes(stream: Stream) -> None:
    stream.load()
    stream.start(slot=0)
    stream.mark(1, ENTER)
    stream.lose_packets()
    stream.mark(2, ENTER)
    stream.mark(0, LEAVE)
    stream.start(slot=0)
    stream.mark(0, LEAVE)
    stream.mark(2, ENTER)
    markers, losses = decoded(stream)
    assert story(markers) == [("outer", ENTER | FIRST), ("inner", ENTER | FIRST)]
    assert losses["packet_loss"] == 1


@pytest.mark.parametrize("generation", ["gfx12", "gfx1250"])
def test_the_trap_handler_writes_no_markers(generation: str) -> None:
    stream = Stream(generation)
    stream.load()
    stream.start()
    stream.value(1 << 2 | ENTER, privileged=True)
    stream.mark(2, ENTER)
    assert story(decoded(stream)[0]) == [("inner", ENTER | FIRST)]


def test_packed_clocks(stream: Stream) -> None:
    stream.load()
    stream.start()
    clock = 0xABC << 20
    for value in (clock | 2 << 2 | ENTER, clock | LEAVE, 1048579 << 2, clock | 9 << 2):
        stream.value(value)
    markers, _ = decoded(stream, b"M:shader_clock_bits=12;shader_clock_shift=4\nU:2:scope\nP:1048579:plain\n")
    assert story(markers) == [("scope", ENTER | FIRST), ("scope", LEAVE), ("plain", 0)]
    assert markers["value"][0] == clock | 2 << 2 | ENTER


def test_names_are_made_readable_and_the_last_duplicate_counts() -> None:
    program = _core.Program()
    assert program.add_funcmap(7, b"P:1:first\nP:1:caf\xc3\xa9\x1b[31m\xff@a\x07b\nK:kern\nnonsense\n") == 1
    assert marker_names(program).rows() == [
        (7, 1, 3, 0, "first", None),
        (7, 1, 3, 0, "caf\xe9?[31m\ufffd", "a?b"),
        (7, 0, 4, 0, "kern", None),
    ]
    markers = pl.DataFrame(_core.tables(_core.decode([b""], program)[0])["markers"])
    row = {name: [0] for name in markers.columns} | {"code_object": [7], "marker_id": [1], "se": [0]}
    named = with_marker_names(pl.DataFrame(row, schema=markers.schema | {"se": pl.UInt16()}), program)
    assert named["name"].to_list() == ["caf\xe9?[31m\ufffd"]
