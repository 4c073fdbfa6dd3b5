from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from wavescope.codeobj.names import demangle, demangle_all


@pytest.mark.parametrize(
    ("name", "readable"),
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


def test_names_that_explode_stay_as_they_are() -> None:
    """270 bytes stand for gigabytes of text; the other names of the same call are still read."""
    started = time.monotonic()
    long_but_honest = "_Z1f" + "1aS_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_"
    names = demangle_all([_bomb(30), long_but_honest, _bomb(4), "_Z1gv"])
    assert names[_bomb(30)] == _bomb(30)
    assert names[long_but_honest].startswith("f(a, a, a")
    assert names[_bomb(4)].startswith("f(p<int, int>, p<p<int, int>, p<int, int> >")
    assert names["_Z1gv"] == "g()"
    assert time.monotonic() - started < 30
