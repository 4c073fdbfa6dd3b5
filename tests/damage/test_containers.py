"""Containers of code objects that lie, end early or would grow: an answer or one clear error, soon and in bounds."""

from __future__ import annotations

import random
import struct
import time
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.containers import ar_archive, hip_entry, host_elf, offload_binary, offload_bundle, packed_bundle
from synth.kernels import kernel_path
from wavewright.base.compression import zstd_library
from wavewright.codeobj import containers
from wavewright.codeobj.containers import code_objects_in
from wavewright.errors import NotATraceError, WavewrightError

CODE = kernel_path("saxpy", "gfx942").read_bytes()
BUNDLE = offload_bundle(
    [("host-x86_64-unknown-linux--", b""), (hip_entry("gfx942"), CODE), (hip_entry("gfx90a"), CODE)]
)
SPECIMENS = {
    "bundle": BUNDLE,
    "zlib": packed_bundle(BUNDLE, version=2, packing="zlib"),
    "zstd": packed_bundle(BUNDLE),
    "library": host_elf({".hip_fatbin": BUNDLE + packed_bundle(BUNDLE)}, alignment=8),
    "archive": ar_archive({"a.o": host_elf({".hip_fatbin": packed_bundle(BUNDLE)}, alignment=8), "b.o": CODE}),
    "offload": offload_binary(CODE, "gfx942"),
    "packed": zstd_library().compress(CODE),
}


def _read_all(data: bytes) -> int:
    """How many code objects could be read."""
    count = 0
    with suppress(WavewrightError):
        contents = code_objects_in(data, where="damaged")
        assert all(loss.message for loss in contents.losses)
        for each in contents.objects:
            with suppress(WavewrightError):
                count += each.read().startswith(b"\x7fELF")
    return count


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("name", SPECIMENS)
def test_cut_anywhere(name: str) -> None:
    data = SPECIMENS[name]
    assert _read_all(data) == len(code_objects_in(data).objects)
    step = max(1, len(data) // 1500)
    for end in (*range(0, len(data), step), *range(min(256, len(data)))):
        _read_all(data[:end])


@pytest.mark.some_cases(4)
@pytest.mark.parametrize("name", SPECIMENS)
def test_damaged_anywhere(name: str) -> None:
    rng = random.Random(name)
    for _ in range(300):
        damaged = bytearray(SPECIMENS[name])
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(min(len(damaged), rng.choice((64, 512, 1 << 20))))
            width = rng.choice((1, 4, 8))
            damaged[at : at + width] = rng.choice((0, 0x7F, 0xFFFF, 1 << 31, 1 << 63, 2**64 - 1)).to_bytes(8, "little")[
                :width
            ]
        _read_all(bytes(damaged))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 1 << 14) | st.integers(0, 2**64 - 1), st.integers(0, 1 << 14) | st.integers(0, 2**64 - 1)
        ),
        max_size=8,
    ),
    st.integers(0, 12) | st.integers(0, 2**64 - 1),
)
def test_tables_that_claim_anything(places: list[tuple[int, int]], count: int) -> None:
    """No byte of a bundle is in two of its code objects, and none is outside of it."""
    name = hip_entry("gfx942").encode()
    table = b"".join(struct.pack("<QQQ", offset, size, len(name)) + name for offset, size in places)
    data = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", count) + table + (b"\x7fELF" + bytes(60)) * 200
    with suppress(WavewrightError):
        contents = code_objects_in(data)
        assert sum(each.size_bytes for each in contents.objects) <= len(data)
        assert all(len(each.read()) == each.size_bytes for each in contents.objects)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (packed_bundle(BUNDLE, method=7), "packed with method 7"),
        (packed_bundle(BUNDLE, version=4), "packed bundle of version 4"),
        (packed_bundle(BUNDLE, claimed_size=1 << 40), "more than is unpacked"),
        (packed_bundle(BUNDLE, claimed_total=1 << 40), "claims 1,099,511,627,776 bytes"),
        (packed_bundle(BUNDLE, claimed_total=3), "claims 3 bytes"),
        (packed_bundle(BUNDLE, packing="zstd", method=0), "zlib data are damaged"),
        (packed_bundle(BUNDLE, packing="zlib", method=1), "zstd data are damaged"),
        (packed_bundle(packed_bundle(BUNDLE)), "does not hold a bundle"),
        (packed_bundle(b"nothing"), "does not hold a bundle"),
    ],
)
def test_packed_bundles_that_lie(data: bytes, said: str) -> None:
    with pytest.raises(NotATraceError, match=said):
        code_objects_in(data)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_size_that_is_not_true_is_an_error(more: int) -> None:
    contents = code_objects_in(packed_bundle(BUNDLE, claimed_size=len(BUNDLE) + more))
    with pytest.raises(NotATraceError, match=r"hold .* bytes that they claim"):
        contents.objects[0].read()


def test_bombs_stay_small() -> None:
    """A gigabyte of zeros behind a true table: looking costs nothing, reading is refused or bounded."""
    table = BUNDLE[:200]
    zeros = zstd_library().ZstdCompressor()
    packed = zeros.compress(table) + b"".join(zeros.compress(bytes(1 << 24)) for _ in range(64)) + zeros.flush()
    for claimed in (len(BUNDLE), 200 << 20, 1 << 30):
        header = b"CCOB" + struct.pack("<HHQQQ", 3, 1, 32 + len(packed), claimed, 0)
        tracemalloc.start()
        started = time.process_time()
        assert _read_all(header + packed) == 0
        assert time.process_time() - started < 10
        assert tracemalloc.get_traced_memory()[1] < 3 * (claimed if claimed <= 200 << 20 else 1 << 20) + (64 << 20)
        tracemalloc.stop()
    with pytest.raises(WavewrightError, match="unpacks to more than"):
        code_objects_in(bytes(packed))


def test_a_section_full_of_starts_is_given_up() -> None:
    for start in (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB\3\0\1\0", b"\x10\xff\x10\xad\1\0\0\0", b"\x7fELF\x02\x01\1\0"):
        started = time.process_time()
        with pytest.raises(WavewrightError):
            code_objects_in(host_elf({".hip_fatbin": start * ((4 << 20) // len(start))}))
        assert time.process_time() - started < 20, start


def test_more_code_objects_than_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_OBJECTS", 5)
    bundles = [offload_bundle([(hip_entry("gfx942"), CODE + bytes([number]))]) for number in range(9)]
    assert len(code_objects_in(host_elf({".hip_fatbin": b"".join(bundles)})).objects) == 5
