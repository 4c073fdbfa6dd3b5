"""The token tables: fields fit, prefixes are unambiguous, and known streams come out byte for byte."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth import gfx9_tokens, rdna_tokens
from synth.layout import Layout, TokenWriter
from tests.kit.together import together

GFX9 = [(f"gfx9 {layout.name}", layout) for layout in gfx9_tokens.TOKENS]
RDNA = [
    (f"v{version} {name}", layout)
    for version, layouts in rdna_tokens.TOKENS.items()
    for name, layout in layouts.items()
]
ALL = dict(GFX9 + RDNA)


def _bits(layout: Layout, name: str) -> int:
    low, high = layout.fields[name]
    return (1 << (high - low + 1)) - 1 << low


@together("name", ALL)
def test_fields_are_apart_and_inside_the_token(name: str) -> None:
    layout = ALL[name]
    assert layout.bits % 4 == 0
    used = (1 << layout.prefix_bits) - 1
    assert layout.prefix <= used
    for field in layout.fields:
        assert used & _bits(layout, field) == 0, field
        used |= _bits(layout, field)
    assert used < 1 << layout.bits


@given(data=st.data())
def test_unpacking_gives_what_was_packed(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(list(ALL.values())))
    values = {
        name: data.draw(st.integers(0, (1 << (high - low + 1)) - 1)) for name, (low, high) in layout.fields.items()
    }
    word = layout.pack(**values)
    assert word < 1 << layout.bits
    assert layout.unpack(word) == values


def test_a_value_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"WAVE_END\.slot has 4 bits, 16 does not fit"):
        gfx9_tokens.WAVE_END.pack(slot=16)


def test_the_low_nibble_of_a_gfx9_token_is_its_number() -> None:
    assert [layout.prefix for layout in gfx9_tokens.TOKENS] == list(range(16))
    lengths = [layout.bits // 8 for layout in gfx9_tokens.TOKENS]
    assert lengths == [2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6]


@together("version", rdna_tokens.TOKENS)
def test_the_low_byte_of_an_rdna_token_tells_its_kind(version: int) -> None:
    layouts = rdna_tokens.TOKENS[version].values()
    for one, other in combinations(layouts, 2):
        shared = (1 << min(one.prefix_bits, other.prefix_bits)) - 1
        assert one.prefix & shared != other.prefix & shared, (one.name, other.name)


def test_bits_are_written_lowest_first() -> None:
    writer = TokenWriter()
    writer.put(0xABC, 3)
    writer.put(0x1, 1)
    writer.put(0x2345, 4)
    assert writer.position == 8
    assert writer.to_bytes() == bytes([0xBC, 0x1A, 0x45, 0x23])


def test_padding_fills_a_block() -> None:
    writer = TokenWriter()
    writer.put(0xF, 1)
    writer.pad(32)
    assert writer.to_bytes() == b"\x0f" + bytes(31)


Token = tuple[str, dict[str, int]]

# spec_rdna section 19: the same story in two stream versions; only the op code of the other SIMD differs.
_STORY: list[Token] = [
    ("HEADER", {"simd": 1, "wgp": 2}),
    ("REG", {"delta": 2, "pipe": 1, "me": 1, "cs": 1, "address": 0x0C, "data": 0x10}),
    ("TIMESTAMP", {"value": 1000}),
    ("TIMESTAMP", {"realtime": 1, "value": 0x123456}),
    ("WAVE_START", {"delta": 1, "simd": 1, "wgp": 2, "slot": 3, "pipe": 1, "me": 1}),
    ("TIME", {"delta": 6}),
    ("INST", {"delta": 1, "slot": 3, "op": 1}),
    ("WAVE_READY", {"delta": 2, "mask": 8}),
    ("VALU_INST", {"delta": 4, "slot": 3}),
    ("VALU_INST", {"delta": 1, "slot": 3}),
    ("IMM_ONE", {"delta": 7, "slot": 3}),
    ("INST", {"delta": 2, "slot": 3, "op": 19}),
    ("TIME", {"delta": 15}),
    ("INST", {"delta": 1, "slot": 3, "op": 36}),
    ("INST", {"delta": 1, "slot": 3, "op": 3}),
]
_VECTORS = {
    3: """
91 21 01 00 00 00 00 00 a9 82 0c 00 10 00 00 00 01 80 3e 00 00 00 01 62 45 23 01 00 2c 69 a0 00
68 12 23 40 85 00 30 1a 8b d1 1f 22 63 82 2f 31 48 12 63 20 32 b4 64 08 00 b5 92 01 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00
""",
    4: """
11 22 01 00 00 00 00 00 a9 82 0c 00 10 00 00 00 01 80 3e 00 00 00 00 00 81 60 45 23 01 00 00 00
2c 89 51 00 68 8a 11 40 85 00 30 1a 8b d1 1f 92 31 81 af 18 24 8a 31 20 19 be 64 08 00 b5 92 01
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
""",
}


@pytest.mark.parametrize("version", _VECTORS)
def test_the_specification_s_stream(version: int) -> None:
    layouts = rdna_tokens.TOKENS[version]
    writer = TokenWriter()
    other_simd = {3: 90, 4: 190}[version]
    story = [*_STORY, ("INST", {"delta": 2, "slot": 3, "op": other_simd}), ("IMMEDIATE", {"delta": 3, "mask": 8})]
    story.append(("WAVE_END", {"delta": 5, "simd": 1, "wgp": 2, "slot": 3}))
    for name, values in story:
        fields = values | ({"version": version} if name == "HEADER" else {})
        layout = layouts[name]
        writer.put(layout.pack(**fields), layout.nibbles)
    expected = bytes.fromhex(_VECTORS[version])
    writer.parts.append("0" * (2 * len(expected) - writer.position))
    assert writer.to_bytes() == expected


def test_the_first_bytes_of_a_real_gfx950_stream() -> None:
    """spec_gfx9 appendix B."""
    writer = TokenWriter()
    misc, stamp = gfx9_tokens.MISC, gfx9_tokens.TIMESTAMP
    for layout, fields in (
        (misc, {"delta": 255, "type": gfx9_tokens.Misc.TIME_RESET}),
        (misc, {"type": gfx9_tokens.Misc.SURFACE_SYNC}),
        (misc, {}),
        (stamp, {"time": 0x0245ADF87D53}),
        (misc, {}),
        (misc, {"delta": 1}),
    ):
        writer.put(layout.pack(**fields), layout.nibbles)
    assert writer.to_bytes() == bytes.fromhex("f02f 0060 0000 0100537df8ad4502 0000 1000")
