"""What AMD's scripts refuse is refused by us before, with another sentence: run both and compare."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.kit.amd_script import SCRIPTS, AmdScript
from wavewright.capture.rocprofv3.options import Kind, Option, options_in, version_of
from wavewright.capture.rocprofv3.refusals import REFUSALS, CommandLine, check_options, refusal_of
from wavewright.capture.rocprofv3.words import option_words, read_words
from wavewright.errors import UsageError

RELEASE = pytest.mark.parametrize("rocm", SCRIPTS)
#: Every row of spec 1.9 -> words, the first release whose script has all the options, and the rule that refuses it.
COMBINATIONS: list[tuple[str, str, str]] = [
    ("--stats", "6.2", "summary of nothing"),
    ("--summary", "6.3", "summary of nothing"),
    ("-D", "6.3", "summary of nothing"),
    ("--summary-groups KERNEL", "6.3", "summary of nothing"),
    ("--summary-units sec", "6.3", "summary of nothing"),
    ("--summary-output-file x", "6.3", "summary of nothing"),
    ("--stats --kernel-trace=no", "6.3", "summary of nothing"),
    ("--stats --hip-trace --hip-runtime-trace=no --hip-compiler-trace=no", "7.0", "summary of nothing"),
    ("--att --att-perfcounters SQ_WAVES --att-perfcounter-ctrl 3 --pmc SQ_WAVES", "7.0", "trace counters with pmc"),
    ("--att --att-perfcounter-ctrl 3 --pmc SQ_WAVES", "7.0", "trace counters with pmc"),
    ("--att --att-activity 3 --pmc SQ_WAVES", "7.0", "activity with pmc"),
    ("--att --att-activity 3 --att-perfcounters SQ_WAVES", "7.0", "activity with trace counters"),
    ("--att --att-activity 3 --att-perfcounter-ctrl 3", "7.0", "activity with trace counters"),
    ("--selected-regions --att-consecutive-kernels 3 --kernel-trace", "7.14", "consecutive kernels in regions"),
    ("--selected-regions -P 1:1:1 --kernel-trace", "7.14", "periods in regions"),
    ("--pc-sampling-method host_trap --pc-sampling-unit time --pc-sampling-interval 5", "7.0", "sampling not enabled"),
    ("--pc-sampling-beta-enabled --pc-sampling-method host_trap", "7.0", "incomplete sampling"),
    ("--pc-sampling-beta-enabled --pc-sampling-unit time --pc-sampling-interval 5", "7.0", "incomplete sampling"),
    (
        "--pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit time --pc-sampling-interval 0",
        "7.0",
        "incomplete sampling",
    ),
    (
        "--pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit time --pc-sampling-interval -5",
        "7.0",
        "sampling backwards",
    ),
    ("--spm SQ_WAVES", "7.14", "streaming not enabled"),
    ("--spm-beta-enabled --spm SQ_WAVES --pmc SQ_WAVES", "7.14", "streaming with others"),
    ("--spm-beta-enabled --spm SQ_WAVES --pc-sampling-beta-enabled", "7.14", "streaming with others"),
    ("--spm-beta-enabled --spm-sample-interval 5", "7.14", "streaming of nothing"),
    ("--pmc SQ_WAVES --pmc", "7.13", "pass without counters"),
    ("--pmc A --pmc B -P 1:1:1", "7.13", "passes in periods"),
    ("--mpi-world-rank-variable R", "7.13", "one variable of MPI"),
    ("--mpi-world-size-variable R", "7.13", "one variable of MPI"),
    ("--benchmark-mode execution-profile --group-by-queue", "7.0", "benchmark by queue"),
]
#: Taken by the script, and refused by the tool or not done at all: spec 1.4, 1.5, 1.9.
ACCEPTED: list[tuple[str, str, str]] = [
    ("--att --att-perfcounters SQ_WAVES", "7.0", "trace counters without a period"),
    ("--att --att-perfcounter-ctrl 3", "7.0", "trace counters without a period"),
    ("--att --att-shader-engine-mask 0", "7.0", "no shader engine"),
    ("--att --att-shader-engine-mask 0x0", "7.0", "no shader engine"),
    ("--att --att-buffer-size 1000", "7.0", "buffer below 1 MiB"),
    ("--att --att-target-cu 16", "7.0", "no such CU"),
    ("--att --att-simd-select 0x10", "7.0", "no such SIMD"),
    ("--att --att-gpu-index a", "7.11", "not a GPU"),
    ("--att --att-serialize-all --att-consecutive-kernels 2", "7.11", "serialized device trace"),
    ("--att --att-serialize-all --selected-regions", "7.13", "serialized device trace"),
    ("--pc-sampling-beta-enabled", "7.0", "sampling of nothing"),
    ("--pmc", "6.3", "pass without counters"),
]
#: Words that the script does not parse, or on which it fails with a traceback.
BAD_WORDS: list[tuple[str, str]] = [
    ("--no-such", "6.2"),
    ("--kernel-trace maybe", "6.3"),
    ("--hip-trace=2", "6.2"),
    ("--output-format xml", "6.2"),
    ("--output-format", "6.2"),
    ("--log-level loud", "6.2"),
    ("-o", "6.2"),
    ("--kernel-iteration-range", "6.3"),
    ("--perfetto-buffer-size many", "6.3"),
    ("--summary-units days", "6.3"),
    ("--collection-period 1:2", "7.0"),
    ("-P a:b:c", "7.0"),
    ("--collection-period-unit days -P 1:1:1", "7.0"),
    ("--att --att-buffer-size 96MB", "7.0"),
    ("--att --att-target-cu one", "7.0"),
    ("--att --att-shader-engine-mask 0xZ", "7.0"),
    ("--att --att-activity x", "7.0"),
    ("--pc-sampling-method magic", "7.0"),
    ("--pc-sampling-interval 1e6", "7.0"),
    ("--agent-index x", "7.0"),
    ("--ompt-trace parallel,task", "7.14"),
    ("--ompt-trace parallel nothing", "7.14"),
    ("stray", "6.2"),
]


def is_refused(words: list[str], rocm: str, environment: dict[str, str] | None = None) -> bool:
    try:
        check_options(read_words(words, version_of(rocm)), version_of(rocm), environment)
    except UsageError as error:
        assert error.what and "\n" not in str(error)
        return True
    return False


def rule_of(words: list[str], rocm: str) -> str:
    refusal = refusal_of(CommandLine(read_words(words, version_of(rocm)), version_of(rocm), {}))
    assert refusal, words
    return refusal.name


@RELEASE
def test_what_the_script_refuses_is_refused(scripts: dict[str, AmdScript], rocm: str) -> None:
    tried = 0
    for text, since, rule in COMBINATIONS:
        if version_of(rocm) < version_of(since):
            continue
        words = text.split()
        outcome = scripts[rocm].run([*words, "--", "program"])
        assert outcome.is_refused, (text, outcome)
        assert rule_of(words, rocm) == rule
        with pytest.raises(UsageError) as error:
            check_options(read_words(words, version_of(rocm)), version_of(rocm))
        assert error.value.what not in outcome.stderr and error.value.advice  # our own sentence
        tried += 1
    assert tried >= {"6.2": 1, "6.3": 7}.get(rocm, 19)


@RELEASE
def test_what_the_tool_refuses_is_refused(scripts: dict[str, AmdScript], rocm: str) -> None:
    for text, since, rule in ACCEPTED:
        if version_of(rocm) >= version_of(since):
            words = text.split()
            assert scripts[rocm].run([*words, "--", "program"]).status == 0  # it leaves it to the tool
            assert rule_of(words, rocm) == rule
    if (6, 3) <= version_of(rocm) < (7, 13):
        variables = scripts[rocm].variables(["--pmc", "A", "--pmc", "B"])
        assert variables["ROCPROF_COUNTERS"] == "pmc: B"  # the first is lost without a word
        assert rule_of(["--pmc", "A", "--pmc", "B"], rocm) == "several passes"
    if (7, 0) <= version_of(rocm) < (7, 13):
        assert rule_of(["--att", "--selected-regions"], rocm) == "trace of regions"


@RELEASE
def test_words_that_the_script_fails_on_are_refused(scripts: dict[str, AmdScript], rocm: str) -> None:
    for text, since in BAD_WORDS:
        if version_of(rocm) >= version_of(since):
            words = text.split()
            outcome = scripts[rocm].run([*words, "--", "program"])
            # Before 7.0 abbreviations are taken; a stray word is an argument that nobody knows.
            assert outcome.is_refused, (text, outcome)
            assert is_refused(words, rocm), text


@pytest.mark.parametrize("rocm", ["7.13", "7.14"])
@pytest.mark.parametrize(
    ("ranks", "environment"),
    [
        ("0-3,8", {}),
        ("7", {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}),
        ("0-3", {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}),
        ("0-4", {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}),
        ("3-1", {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "9"}),
        ("x", {"MPI_RANK": "1", "MPI_SIZE": "9"}),
        ("x", {}),
        ("0,,1", {"PMI_RANK": "1", "PMI_SIZE": "9"}),
        ("8", {"SLURM_PROCID": "0"}),
    ],
)
def test_ranks(scripts: dict[str, AmdScript], rocm: str, ranks: str, environment: dict[str, str]) -> None:
    words = ["--kernel-trace", "--profile-mpi-ranks", ranks]
    outcome = scripts[rocm].run([*words, "--", "program"], environment)
    assert is_refused(words, rocm, environment) == outcome.is_refused


def samples(option: Option, rocm: str) -> list[tuple[str, ...]]:
    """Some values of an option, also such as have no effect."""
    choices = option.choices_in(version_of(rocm))
    if option.kind is Kind.BOOLEAN:
        return [()] if rocm == "6.2" else [(), ("no",)]
    if option.kind is Kind.CHOICES or option.kind is Kind.CHOICE:
        return [choices[:1]]
    by_kind = {
        Kind.ANY_WORDS: [(), ("SQ_WAVES",)] if not choices else [(), ("task",)],
        Kind.WORDS: [("1:1:1",)] if option.name == "--collection-period" else [("1",)],
        Kind.INTEGER: [("0",), ("3",)],
        Kind.NUMBER: [("0",), ("0x200000",)],
        Kind.TEXT: [("x",)],
    }
    return by_kind[option.kind]


_NOT_COMBINED = (
    "--help",
    "--version",
    "--input",
    "--extra-counters",
    "--echo",
    "--list-avail",
    "--list-metrics",
    "--pid",
)
_FOLDERS = ("--pid", "--att-library-path", "--rocm-root", "--sdk-version", "--sdk-soversion")


def single_options(rocm: str) -> list[tuple[str, ...]]:
    options = {option.name: option for option in options_in(version_of(rocm)).values()}
    return [
        option_words(name, *values)
        for name, option in options.items()
        if name not in _NOT_COMBINED + _FOLDERS
        for values in samples(option, rocm)
    ]


def compared(script: AmdScript, rocm: str, groups: list[tuple[str, ...]]) -> None:
    words = [word for group in groups for word in group]
    outcome = script.run([*words, "--", "program"])
    if outcome.is_refused:
        assert is_refused(words, rocm), (words, outcome.stderr[-300:])


@pytest.mark.some_cases(2)
@RELEASE
def test_random_combinations_are_never_taken_where_the_script_refuses(scripts: dict[str, AmdScript], rocm: str) -> None:
    options = single_options(rocm)
    draw = random.Random(f"refusals {rocm}")
    for group in options:
        compared(scripts[rocm], rocm, [group])
    for count in (2, 3, 4, 5, 8):
        for _ in range(12):
            compared(scripts[rocm], rocm, draw.sample(options, min(count, len(options))))


@pytest.mark.slow
@RELEASE
def test_all_pairs_of_options(scripts: dict[str, AmdScript], rocm: str) -> None:
    options = single_options(rocm)
    for pair in itertools.combinations(options, 2):
        compared(scripts[rocm], rocm, list(pair))
        if any(group[0].startswith("--att-") for group in pair):
            compared(scripts[rocm], rocm, [("--att",), *pair])


def test_rules_are_complete_and_tried() -> None:
    """Every rule has its own name, and a case above, or needs a release whose script is not here."""
    names = [refusal.name for refusal in REFUSALS]
    assert len(set(names)) == len(names)
    tried = {rule for _, _, rule in (*COMBINATIONS, *ACCEPTED)}
    elsewhere = {"several passes", "trace of regions", "ranks", "too many trace counters"}
    replay = {"replay not enabled", "replay of nothing", "replay with others"}
    assert set(names) == tried | elsewhere | replay
    for text, rule in (
        ("--replay-mode kernel --pmc A", "replay not enabled"),
        ("--replay-mode kernel --kernel-replay-beta-enabled", "replay of nothing"),
        ("--replay-mode kernel --kernel-replay-beta-enabled --pmc A --att", "replay with others"),
        ("--att --att-perfcounter-ctrl 1 --att-perfcounters A,B,C,D,E,F,G,H,I", "too many trace counters"),
    ):
        assert rule_of(text.split(), "10.0.1") == rule
    assert not is_refused(["--att", "--att-perfcounter-ctrl", "1", "--att-perfcounters", "A,B,C,D,E,F,G,H"], "7.14")
    assert not is_refused(["--att", "--pmc", "A"], "7.14")  # the script takes it, and FlyDSL's notes are wrong
