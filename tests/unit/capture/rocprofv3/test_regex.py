"""Regexes of name filters: safe ones, models of both engines, warnings (spec 4.2, 4.3)."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.capture.rocprofv3.regex import (
    check_regex,
    exact_regex,
    literal,
    name_regex,
    names_found,
    parts_regex,
    regex_warnings,
    truncated,
)
from wavewright.capture.rocprofv3.regex_engines import RegexError, finds
from wavewright.capture.rocprofv3.releases import RegexEngine
from wavewright.errors import UsageError

AMD, STD = RegexEngine.AMD, RegexEngine.STD
BOTH = pytest.mark.parametrize("engine", [AMD, STD])
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
#: What the two engines answer, by reading AMD's; the second by ECMAScript.
CASES = [
    ("foo", "a foo b", True, True),
    ("^foo$", "foo", True, True),
    ("^foo$", "foo2", False, False),
    ("(?:a|b)", "a", False, True),
    ("(?:a|b)", "x?:a", True, True),
    ("(foo|foobar)<", "foobar<", False, True),
    ("(foobar|foo)<", "foobar<", True, True),
    ("(foo|foobar).*", "foobar<", True, True),
    ("(.*b)c", "abcb", False, True),  # a group has one end: the last b
    (".*bc", "abcb", True, True),
    ("(a*)b", "aab", True, True),  # a group of nothing but a repetition is tried again
    ("(a*)ab", "aab", True, True),
    ("(xa*)ab", "xaab", False, True),
    ("(a|b)*c", "abbac", True, True),
    (r"\d+_\w\s", "x 12_y z", True, True),
    (r"[\d]x", "7x", True, True),
    (r"[\S]x", "ax", False, True),  # ignored inside a class
    (r"[a\-z]q", "mq", True, False),  # AMD takes an escaped hyphen for a range
    ("[^a-c]", "abc", False, False),
    ("[z-a]", "m", True, None),
    ("a{2}", "baab", True, True),
    ("a{2,}b", "ab", False, False),
    ("a{1,2}b", "aab", True, True),
    ("a{3,1}b", "aab", True, None),
    ("^a{2,3}?$", "aaa", True, True),
    ("a{x}", "a{x}", True, None),
    ("*a", "*a", True, None),
    ("a**", "aaa*", True, None),
    ("f\\(float\\*\\)", "f(float*)", True, True),
    ("", "anything", True, True),
    (".*", "", True, True),
    (".", "é", True, True),
    ("(a+)+$", "a" * 30 + "b", False, False),
]


@pytest.mark.parametrize(("pattern", "name", "amd", "std"), CASES)
def test_answers_of_the_engines(pattern: str, name: str, amd: bool, std: bool | None) -> None:
    assert finds(pattern, name, AMD) is amd
    if std is None:
        with pytest.raises(RegexError):
            finds(pattern, name, STD)
    else:
        assert finds(pattern, name, STD) is std


@BOTH
@pytest.mark.parametrize("pattern", ["(a", "[a", "a)", "x|(b|c"])
def test_what_both_engines_refuse(pattern: str, engine: RegexEngine) -> None:
    with pytest.raises(RegexError):
        finds(pattern, "a", engine)
    with pytest.raises(UsageError, match="does not take the regex"):
        check_regex(pattern, (7, 2) if engine is AMD else (7, 0))


def test_what_cannot_be_told_is_not_guessed() -> None:
    assert finds("a(?=b)", "ab", STD) is None
    assert finds(r"\bfoo\b", "foo", STD) is None
    assert finds(r"(a)\1", "aa", STD) is None
    assert finds("a{100000}", "a", STD) is None
    assert finds("[[:alpha:]]", "a", STD) is None
    assert finds(r"\bfoo\b", "bfoob", AMD) is True  # the letter
    with pytest.raises(RegexError):
        finds("(?<=a)b", "ab", STD)
    assert names_found("a(?=b)", ["ab"], (6, 3)) is None


def test_long_names_are_fast() -> None:
    name = "void at::native::kernel<" + "std::tuple<float, int>, " * 170 + "int>(int)"
    assert len(name) > 4000
    for engine in (AMD, STD):
        assert finds(exact_regex(name), name, engine)
        assert finds(parts_regex(["kernel<", "nothing like it"]), name, engine)
        assert not finds(".*(nothing|like).*", name, engine)
    assert finds("(.*,)*x", "a," * 2000, AMD) in (False, None)


_ATOMS = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", "^", "$", "(a)", "ab"])
_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=8,
)


@given(_PATTERNS, st.text("abc", max_size=7))
def test_the_model_of_std_regex_agrees_with_python(pattern: str, name: str) -> None:
    assert finds(pattern, name, STD) is bool(re.search(pattern.replace("$", r"\Z"), name))


@given(_PATTERNS, st.text("abc", max_size=7))
def test_amds_engine_finds_nothing_that_is_not_there(pattern: str, name: str) -> None:
    if finds(pattern, name, AMD):
        assert re.search(pattern.replace("$", r"\Z"), name)


_KERNEL = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40)


@given(st.lists(_KERNEL, min_size=1, max_size=5))
def test_safe_regexes_find_what_they_are_for(names: list[str]) -> None:
    for engine in (AMD, STD):
        pattern = parts_regex(names)
        for name in names:
            assert finds(pattern, f"x{name}y", engine)
            assert finds(literal(name), name, engine)
            assert finds(exact_regex(name), name, engine)
            assert not finds(exact_regex(name), f"{name}y", engine)


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
            assert len(pattern) < 300 or pattern == exact_regex(name)
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
