"""Regexes of name filters: safe ones, what is refused and what is not judged, warnings (spec 4.2, 4.3)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.capture.rocprofv3.regex import (
    check_regex,
    literal,
    name_regex,
    names_found,
    parts_regex,
    regex_warnings,
    truncated,
)
from wavewright.errors import UsageError

STD, AMD = (7, 0), (7, 2)  #: Releases with std::regex, and with AMD's own engine.
NAMES = [
    "void gemm<float>(float*, int)",
    "void gemm<double>(double*, int)",
    "gemm_fp8_0",
    "gemm",
    "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_SE",
    "ns::operator()(int) [clone .kd]",
    "_Z3addPfS_i",
    "triton_poi_fused_add_0",
]
#: Name, what both engines answer by reading them; None = they differ, or Python might take for ever: not judged.
CASES = [
    ("foo", "a foo b", True),
    ("^foo$", "foo", True),
    ("^foo$", "foo2", False),
    ("(?:a|b)", "a", None),
    ("(foo|foobar)<", "foobar<", None),
    ("(foo|foobar).*", "foobar<", True),
    ("(.*b)c", "abcb", None),
    (".*bc", "abcb", True),
    ("(a|b)*c", "abbac", None),
    (r"\d+_\w\s", "x 12_y z", True),
    (r"[\S]x", "ax", None),
    (r"[a\-z]q", "mq", None),
    ("[^a-c]", "abc", False),
    ("a{2}", "baab", True),
    ("a{2,}b", "ab", False),
    ("f\\(float\\*\\)", "f(float*)", True),
    ("", "anything", True),
    (".*", "", True),
    (".", "é", True),
    ("(a+)+$", "a" * 30 + "b", None),
    ("a(?=b)", "ab", None),
    (r"\bfoo\b", "foo", None),
    (r"(a)\1", "aa", None),
    ("[[:alpha:]]", "a", None),
    ("a{100000}", "a", None),
]


@pytest.mark.parametrize("version", [STD, AMD])
@pytest.mark.parametrize(("pattern", "name", "is_found"), CASES)
def test_what_is_found_alike_and_what_is_not_judged(
    pattern: str, name: str, is_found: bool | None, version: tuple[int, int]
) -> None:
    expected = None if is_found is None else (name,) if is_found else ()
    assert names_found(pattern, [name], version) == expected


@pytest.mark.parametrize("pattern", ["(a", "[a", "a)", "x|(b|c"])
def test_what_both_engines_refuse(pattern: str) -> None:
    for version in (STD, AMD):
        with pytest.raises(UsageError, match="does not take the regex"):
            check_regex(pattern, version)


@pytest.mark.parametrize("pattern", ["[z-a]", "a{3,1}b", "a{x}", "*a", "a**", "(?<=a)b"])
def test_what_only_std_regex_refuses(pattern: str) -> None:
    check_regex(pattern, AMD)
    with pytest.raises(UsageError, match="does not take the regex"):
        check_regex(pattern, STD)


def test_long_names_are_fast() -> None:
    name = "void at::native::kernel<" + "std::tuple<float, int>, " * 170 + "int>(int)"
    assert len(name) > 4000
    assert names_found(f"^{literal(name)}$", [name], AMD) == (name,)
    assert names_found(parts_regex(["kernel<", "nothing like it"]), [name], AMD) == (name,)
    assert names_found(".*(nothing|like).*", [name], AMD) == ()


_KERNEL = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40)


@given(st.lists(_KERNEL, min_size=1, max_size=5))
def test_safe_regexes_find_what_they_are_for(names: list[str]) -> None:
    pattern = parts_regex(names)
    for name in names:
        assert names_found(pattern, [f"x{name}y"], AMD) == (f"x{name}y",)
        assert names_found(literal(name), [name], STD) == (name,)
        assert names_found(f"^{literal(name)}$", [name, f"{name}y"], AMD) == (name,)


@given(st.lists(_KERNEL, min_size=1, max_size=6, unique=True))
def test_a_chosen_name_is_the_only_one_that_is_found(names: list[str]) -> None:
    pattern = name_regex(names[0], names)
    for version in ((7, 0), (7, 2)):
        assert names_found(pattern, names, version) == (names[0],)


def test_chosen_names_are_readable() -> None:
    assert [name_regex(name, NAMES) for name in NAMES] == [
        "gemm<f",
        "gemm<d",
        "gemm_fp8_0",
        "^gemm$",
        "vectorized_elementwise_kernel",
        "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_SE",
        "operator",
        "_Z3addPfS_i",
        "triton_poi_fused_add_0",
    ]


def test_names_of_real_discoveries_are_told_apart(shared: Path) -> None:
    """Every kernel of the discoveries of the FlyDSL captures, also those of PyTorch with 4,000 characters."""
    tables = sorted((shared / "data" / "rocprofv3-mi350x-flydsl").rglob("discover_kernel_stats.csv"))
    assert len(tables) >= 13
    count = 0
    for table in tables:
        with table.open(newline="") as file:
            names = [row["Name"] for row in csv.DictReader(file)]
        for name in names:
            pattern = name_regex(name, names)
            assert len(pattern) < 300 or pattern == f"^{literal(name)}$"
            for version in ((7, 0), (7, 2)):
                assert names_found(pattern, names, version) == (name,)
            count += 1
    assert count > 50


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("void ns::addition_kernel<float>(float*, int)", "addition_kernel"),
        ("Foo<int, float>::foo(a[], int (int))", "foo"),
        ("gemm", "gemm"),
        ("kernel<(int)3>(f<g>)[2] ", "kernel"),
        ("a) b", "b"),
        ("unopened)", ""),
        ("", ""),
    ],
)
def test_truncated_names(name: str, short: str) -> None:
    assert truncated(name) == short


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(?:gemm|add)", "(?:"),
        (r"\bgemm\b", "letter b"),
        ("gemm(?=<)", "look-around"),
        ("(?!at::)gemm", "look-around"),
        ("(?<!x)gemm", "look-around"),
        ("(?i)gemm", "no meaning"),
        (r"\x41", "code"),
        (r"(a)\1", "back reference"),
        ("[[:alpha:]]+", "list the characters"),
        (r"[\S]+", r"\S"),
        ("(gemm|gemm_fp8)<", "gemm_fp8 is never tried"),
        ("(gemm|gemm_fp8)$", "gemm_fp8 is never tried"),
    ],
)
def test_warnings_about_amds_engine(pattern: str, part: str) -> None:
    assert any(part in sentence for sentence in regex_warnings(pattern, (7, 1)))
    assert regex_warnings(pattern, (7, 0, 2)) == ()


def test_no_warning_without_a_reason() -> None:
    for pattern in ("gemm", "gemm.*fp8", "(gemm_fp8|gemm)<", "(gemm|gemm_fp8)", r"\\b", r"f\(\?:", "(a|b)c", "[a-z]+"):
        assert regex_warnings(pattern, (7, 14)) == ()
    assert "-T cuts" in regex_warnings("at::native", (7, 0), is_truncating=True)[0]
    assert "-T cuts" in regex_warnings(r"gemm\(int", (7, 0), is_truncating=True)[0]
    assert regex_warnings("(gemm|add)", (7, 0), is_truncating=True) == ()
    assert "-M compares" in regex_warnings("at::native", (7, 0), is_mangled=True, is_truncating=True)[0]
    assert regex_warnings("_Z3add", (7, 0), is_mangled=True) == ()


def test_no_names_and_odd_characters_are_refused() -> None:
    for parts in ([], [""], ["a", ""]):
        with pytest.raises(UsageError, match="no name"):
            parts_regex(parts)
    assert literal("a\nb\x00c") == "a.b.c"
    with pytest.raises(UsageError, match="line ends"):
        check_regex("a\nb", (7, 2))
    check_regex("(a|b)", (7, 2))
