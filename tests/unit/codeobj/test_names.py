from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from tests.kit.processor import processor_s
from tests.kit.together import together
from wavewright import _core
from wavewright.codeobj.names import _doublings, _expansion, demangle, demangle_all


@together(
    "name, readable",
    [
        ("_Z5saxpyfPKfPf.kd", "saxpy(float, float const*, float*)"),
        ("_Z5saxpyfPKfPf.intern.0123abcd", "saxpy(float, float const*, float*)"),
        ("_ZN4blas5saxpyILj64EEEvfPKfPfj", "void blas::saxpy<64u>(float, float const*, float*, unsigned int)"),
        ("_Z1fPDF16_PKDF16b", "f(_Float16*, std::bfloat16_t const*)"),
        ("_Z3fooDv4_DF16_", "foo(_Float16 __vector(4))"),
        ("_ZN9decimal641fEDF16_", "_ZN9decimal641fEDF16_"),
        ("__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_fillBufferAligned"),
        ("Cijk_Ailk_Bljk_HHS_BH", "Cijk_Ailk_Bljk_HHS_BH"),
        ("_Z", "_Z"),
        ("", ""),
        ("_Z\u00e4", "_Z\u00e4"),
        ("_Z5saxpy\nfoo", "_Z5saxpy\nfoo"),
        ("_Z" + "1a" * 20_000, "_Z" + "1a" * 20_000),
    ],
)
def test_names(name: str, readable: str) -> None:
    if name.startswith("_ZN9decimal64"):  # printed by some demanglers, never as something it is not
        assert "decimal64::f" in demangle(name) or demangle(name) == name
        assert "_Float16::f" not in demangle(name)
    else:
        assert demangle(name) == readable


def test_labels_of_the_official_decode(shared: Path) -> None:
    """Label rows of code.json carry the demangled signature; empty when the name is not mangled."""
    labels = {}
    for path in sorted((shared / "data" / "att-mi300x-bmm").glob("*/ui_output_*/code.json")):
        for row in json.loads(path.read_bytes())["code"] or []:
            if row[0].startswith("; "):
                labels[row[0][2:]] = row[3]
    assert len(labels) > 5
    ours = demangle_all(labels)
    assert {name: text if text != name else "" for name, text in ours.items()} == labels


def _bomb(steps: int) -> str:
    """f(p<int, int>, p<A, A>, p<B, B>, ...): every parameter is twice the one before it."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name, last = "_Z1f1pIiiE", 1
    for following in range(2, 2 + steps):
        reference = f"S{digits[last - 1]}_"
        name += f"S_I{reference}{reference}E"
        last = following
    return name


#: As those of Composable Kernel: many references, and a short text behind them.
LONG_NAMES = [
    "_ZN7ck_tile6kentryILi1ENS_17BatchedGemmKernelINS_13TileGemmShapeINS_8sequenceIJLi256ELi64EEEENS3_IJLi2ELi1EEEEEE"
    + "S4_S5_" * 8
    + "EEEEvDpT1_",
    "_ZN2ck15kernel_moe_gemmINS_13tensor_layout4gemm8RowMajorENS2_11ColumnMajorENS_5TupleIJS3_EEEffNS5_IJfEEE"
    + "S3_" * 16
    + "EEvNT_8ArgumentE",
]


@pytest.mark.parametrize("name", LONG_NAMES)
def test_long_names_of_libraries_start_no_process(name: str) -> None:
    assert _doublings(name) > 14
    assert _expansion(name) <= 1 << 24


@together("steps", [12, 20, 30])
@together("tail", ["", "DpT_", "T_T0_", "NT_3abcE"])
def test_bombs_are_seen(steps: int, tail: str) -> None:
    assert _expansion(_bomb(steps) + tail) >= 1 << (steps + 5)


def _random_name(rng: random.Random) -> str:
    """A function with template arguments that refer to each other, some of which the ABI allows."""
    pieces = ["1a", "i", "y", "P1b", "1pI", "JiE", "E", "E", *(f"S{number}_" for number in ("", 0, 1, 2, 3, 4, 5, 6))]
    arguments = "".join(rng.choices(pieces, k=rng.randrange(2, 24)))
    closed = arguments + "E" * max(0, arguments.count("I") + arguments.count("J") - arguments.count("E"))
    return f"_Z1fI{closed}Ev" + "".join(rng.choices(["i", "T_", "T0_", "PKT_", "DpT_", "S_", "S1_", "NT_3abcE"], k=3))


def test_nothing_prints_more_than_its_bound() -> None:
    rng = random.Random(17)
    names = {_random_name(rng) for _ in range(20_000)}
    texts = {name: _core.demangle(name) for name in names if _expansion(name) <= 1 << 20}
    readable = {name: text for name, text in texts.items() if text}
    assert len(readable) > 400
    letters = len("unsigned long long")  # that one can stand for
    assert all(len(text) <= letters * _expansion(name) for name, text in readable.items())
    assert any(len(text) > 6 * len(name) for name, text in readable.items())  # references do expand


@pytest.mark.parametrize(
    "name",
    [
        "_ZN1pI" + "1aS_" * 16 + "T_EEv",  # a template parameter inside of template arguments
        "_Z1fI" + "1aS_" * 16 + "EvNT_9abcE",  # the name is longer than the rest
        "_Z1fI" + "1aS_" * 16 + "DpT_EEv",
    ],
)
def test_what_the_bound_cannot_tell(name: str) -> None:
    assert _expansion(name) == math.inf


@pytest.mark.slow
def test_names_that_explode_stay_as_they_are() -> None:
    """270 bytes stand for gigabytes of text; the other names of the same call are still read."""
    started = processor_s()
    long_but_honest = "_Z1f" + "1aS_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_"
    names = demangle_all([_bomb(30), long_but_honest, _bomb(4), "_Z1gv"])
    assert names[_bomb(30)] == _bomb(30)
    assert names[long_but_honest].startswith("f(a, a, a")
    assert names[_bomb(4)].startswith("f(p<int, int>, p<p<int, int>, p<int, int> >")
    assert names["_Z1gv"] == "g()"
    assert processor_s() - started < 30
