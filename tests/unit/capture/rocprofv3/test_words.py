"""Words of a command line, read as argparse reads them in AMD's scripts."""

from __future__ import annotations

import pytest

from tests.kit.amd_script import AmdScript
from wavewright.capture.rocprofv3.words import number_of, option_words, read_words
from wavewright.errors import UsageError


def read(text: str, version: tuple[int, ...] = (7, 14)) -> list[tuple[str, tuple[str, ...]]]:
    return [(given.option.name, given.values) for given in read_words(text.split(), version)]


def test_options_take_what_argparse_gives_them() -> None:
    assert read("--att --pmc A B --kernel-iteration-range 7 8 -d out") == [
        ("--advanced-thread-trace", ()),
        ("--pmc", ("A", "B")),
        ("--kernel-iteration-range", ("7", "8")),
        ("--output-directory", ("out",)),
    ]
    assert read("-dout --output-file=x -T") == [
        ("--output-directory", ("out",)),
        ("--output-file", ("x",)),
        ("--truncate-kernels", ()),
    ]
    assert read("--pc-sampling-interval -5") == [("--pc-sampling-interval", ("-5",))]
    assert read("--kernel-trace no --pmc") == [("--kernel-trace", ("no",)), ("--pmc", ())]
    assert read("") == []
    assert [given.is_on for given in read_words(["--stats", "--kernel-trace=off"], (7, 0))] == [True, False]


@pytest.mark.parametrize("value", ["-x", "--att", "-", "-5", "a b", "-a b", "=", ""])
def test_values_with_hyphens_arrive(scripts: dict[str, AmdScript], value: str) -> None:
    words = [*option_words("--kernel-include-regex", value), *option_words("-d", value or "x")]
    variables = scripts["7.14"].variables(words)
    assert variables.get("ROCPROF_KERNEL_FILTER_INCLUDE_REGEX", "") == value
    assert variables["ROCPROF_OUTPUT_PATH"] == (value or "x")
    assert [given.values for given in read_words(words, (7, 14))] == [(value,), (value or "x",)]


def test_names_depend_on_the_release() -> None:
    assert read("-f csv", (7, 0)) == [("--output-format", ("csv",))]
    with pytest.raises(UsageError, match=r"first release that does is ROCm 7\.0"):
        read("-f csv", (6, 3))
    assert read("-p 1:1:1", (6, 4)) == [("--collection-period", ("1:1:1",))]
    with pytest.raises(UsageError, match=r"first release that takes it is ROCm 7\.0"):
        read("--output-format rocpd", (6, 4))
    with pytest.raises(UsageError, match="takes no value"):
        read("--hip-trace=no", (6, 2))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0x10", 16),
        ("0X10", None),
        ("16", 16),
        ("-1", -1),
        ("1_000", 1000),
        ("", None),
        ("1.5", None),
        ("0x", None),
    ],
)
def test_numbers(scripts: dict[str, AmdScript], text: str, number: int | None) -> None:
    assert number_of(text) == number
    if text:
        outcome = scripts["7.14"].run(["--att", f"--att-buffer-size={text}", "--", "program"])
        assert outcome.is_refused == (number is None)
        if number is not None:
            assert outcome.runs[0][1]["ROCPROF_ATT_PARAM_BUFFER_SIZE"] == str(number)
