"""The table of options against AMD's scripts: names, values, hidden ones, and the variables that each sets."""

from __future__ import annotations

import pytest

from tests.kit.amd_script import SCRIPTS, AmdScript
from wavewright.capture.rocprofv3.options import (
    Kind,
    Option,
    all_options,
    groups,
    is_within,
    option_named,
    options_in,
    version_of,
)
from wavewright.capture.rocprofv3.releases import (
    NEWEST,
    RELEASES,
    assumed,
    first_release_with,
    has_trap,
    options_of_help,
    release_of,
)
from wavewright.errors import UsageError

#: What --att-activity stands for, as AMD's script hands it on.
ACTIVITY_COUNTERS = (
    *("SQ_BUSY_CU_CYCLES", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS"),
    *("SQ_ACTIVE_INST_VMEM", "SQ_ACTIVE_INST_FLAT", "SQ_ACTIVE_INST_SCA", "SQ_ACTIVE_INST_MISC"),
)

RELEASE = pytest.mark.parametrize("rocm", SCRIPTS)
#: Values to try, where the kind does not give one.
VALUES = {
    "--output-directory": ("out",),
    "--summary-output-file": ("stdout",),
    "--collection-period": ("1.5:2:3", "0:1:1"),
    "--att-simd-select": ("0x3",),
    "--att-perfcounters": ("sq_waves:0x1",),
    "--summary-groups": ("KERNEL|HIP", "COPY"),
    "--ompt-trace": ("parallel", "task"),
}
NANOSECONDS = "1500000000:2000000000:3;0:1000000000:1"
SAMPLES = {
    Kind.NOTHING: (),
    Kind.BOOLEAN: (),
    Kind.TEXT: ("some",),
    Kind.WORDS: ("one", "two"),
    Kind.ANY_WORDS: ("SQ_WAVES", "SQ_BUSY_CYCLES"),
    Kind.INTEGER: ("7",),
    Kind.NUMBER: ("0x11",),
}
#: Options that another one needs to have an effect, or to be accepted.
COMPANIONS = {
    "--mpi-world-rank-variable": ["--mpi-world-size-variable", "SIZE"],
    "--mpi-world-size-variable": ["--mpi-world-rank-variable", "RANK"],
    "--spm-sample-interval": ["--spm-beta-enabled", "--spm", "SQ_WAVES"],
    "--spm-sample-interval-unit": ["--spm-beta-enabled", "--spm", "SQ_WAVES"],
    "--spm": ["--spm-beta-enabled"],
}
SAMPLING = {"--pc-sampling-unit": "time", "--pc-sampling-method": "host_trap", "--pc-sampling-interval": "9"}
#: Their companions are refused without them.
NEEDED_BY_OTHERS = ("--spm", "--mpi-world-rank-variable", "--mpi-world-size-variable")
#: They print something, or start another program than the one that is given.
NOT_RUN = (
    *("--help", "--version", "--input", "--list-metrics", "--list-avail", "--pid", "--echo", "--attach-children"),
    "--attach-duration-msec",  # only with --pid
    *("--att-library-path", "--rocm-root"),  # need folders that exist
)


def values_of(option: Option, rocm: str) -> tuple[str, ...]:
    if option.name in VALUES:
        return VALUES[option.name]
    if option.choices:
        return option.choices_in(version_of(rocm))[:1]
    return SAMPLES[option.kind]


def companions(option: Option) -> list[str]:
    if option.name in SAMPLING:
        others = [word for name, value in SAMPLING.items() if name != option.name for word in (name, value)]
        return ["--pc-sampling-beta-enabled", *others]
    if option.name.startswith("--att-"):
        return ["--att"]
    if option.name.startswith("--summary") or option.name in ("--stats", "--selected-regions-ref-count"):
        return ["--kernel-trace"]
    return COMPANIONS.get(option.name, [])


def predicted(option: Option, values: tuple[str, ...], rocm: str) -> dict[str, str]:
    """What the table says that an option sets, parts that it implies included."""
    version = version_of(rocm)
    settings = {}
    for name in option.implies:
        part = all_options()[name]
        if part.exists_in(version):
            settings |= predicted(part, (), rocm)
    for variable, content in option.variables.items():
        text = option.joint.join(values)
        if option.kind is Kind.NUMBER:
            text = str(int(text, 0))
        forms = {"{upper}": text.upper(), "{nanoseconds}": NANOSECONDS, "{}": text}
        if "{kilobytes}" in content:
            forms["{kilobytes}"] = str(int(text) * 1024)
        for form, filled in forms.items():
            content = content.replace(form, filled)
        settings[variable] = content
    return {name: value for name, value in settings.items() if value != "" and "{" not in value}


@RELEASE
def test_help_lists_exactly_what_the_table_has(scripts: dict[str, AmdScript], rocm: str) -> None:
    outcome = scripts[rocm].run(["--help"])
    listed = options_of_help(outcome.stdout)
    table = {name for name, option in options_in(version_of(rocm)).items() if not option.is_hidden}
    assert listed == {name for name in table if name.startswith("--")}
    for name in table:
        assert name in outcome.stdout


@pytest.mark.first_case
@RELEASE
def test_every_name_takes_what_the_table_says(scripts: dict[str, AmdScript], rocm: str) -> None:
    """Every option under every name and with every value of its list; hidden ones too."""
    count = 0
    for name, option in options_in(version_of(rocm)).items():
        if option.name in NOT_RUN or option.kind is Kind.FILE:
            continue
        for value in option.choices_in(version_of(rocm)) or [None]:
            values = values_of(option, rocm) if value is None else (value,)
            outcome = scripts[rocm].run([*companions(option), name, *values, "--", "program"])
            assert outcome.status == 0 and len(outcome.runs) == 1, (name, values, outcome.stderr)
            count += 1
    assert count > {"6.2": 30, "6.3": 60}.get(rocm, 100)


@pytest.mark.first_case
@RELEASE
def test_variables_are_those_of_the_table(scripts: dict[str, AmdScript], rocm: str) -> None:
    script = scripts[rocm]
    baselines: dict[tuple[str, ...], dict[str, str]] = {}
    count = 0
    for option in all_options().values():
        if not option.exists_in(version_of(rocm)) or option.name in NOT_RUN or option.kind is Kind.FILE:
            continue
        others = companions(option)
        values = values_of(option, rocm)
        if option.name == "--pc-sampling-beta-enabled":
            assert script.variables([option.name]) == script.variables([])  # alone it does nothing
            continue
        variables = script.variables([*others, option.name, *values])
        expected = predicted(option, values, rocm)
        for name, value in expected.items():
            assert variables.get(name) == value, (option.name, name)
        count += 1
        if option.name in SAMPLING or option.name in NEEDED_BY_OTHERS:
            continue
        if tuple(others) not in baselines:
            baselines[tuple(others)] = script.variables(others)
        baseline = baselines[tuple(others)]
        changed = {n: v for n, v in variables.items() if baseline.get(n) != v and n.startswith("ROCPROF")}
        unexplained = set(changed) - set(expected)
        allowed = {
            "--output-file": {"ROCPROF_OUTPUT_LIST_METRICS_FILE"},  # 6.2, 6.3
            "--output-directory": {"ROCPROF_OUTPUT_LIST_METRICS_FILE"},
            "--summary": {"ROCPROF_STATS_SUMMARY_OUTPUT"},
            "--ompt-trace": {"ROCPROF_OUTPUT_FORMAT"},
            "--advanced-thread-trace": {"ROCPROF_ATT_LIBRARY_PATH"},
            "--benchmark-mode": {"ROCPROF_GROUP_BY_QUEUE"},
        }.get(option.name, set())
        assert unexplained <= allowed, option.name
    assert count > 20


@pytest.mark.parametrize("rocm", [rocm for rocm in SCRIPTS if version_of(rocm) >= (7, 0)])
def test_files_and_libraries_reach_the_program(scripts: dict[str, AmdScript], rocm: str) -> None:
    script = scripts[rocm]
    definitions = script.root / "extra.yaml"
    definitions.write_text("a: 1\n")
    assert script.variables(["-E", str(definitions)])["ROCPROF_EXTRA_COUNTERS_CONTENTS"] == "a: 1\n"
    assert script.variables(["--preload", "x.so", "y.so"])["LD_PRELOAD"].startswith("x.so:y.so:")
    assert script.variables(["--rocm-root", str(script.root)])["LD_LIBRARY_PATH"] == str(script.root / "lib")
    assert "librocprofiler-sdk-roctx.so" in script.variables(["--marker-trace"])["LD_PRELOAD"]
    folder = str(script.root / "lib")
    assert script.variables(["--att", "--att-library-path", folder])["ROCPROF_ATT_LIBRARY_PATH"] == folder
    activity = script.variables(["--att", "--att-library-path", folder, "--att-activity", "5"])
    assert activity["ROCPROF_ATT_PARAM_PERFCOUNTERS"].split() == list(ACTIVITY_COUNTERS)


def test_rows_are_complete() -> None:
    assert sum(map(len, groups().values())) == len(all_options())
    for option in all_options().values():
        assert option.meaning and option.name.startswith("--")
        assert all(name in all_options() for name in option.implies)
        assert any(release.version == version_of(option.since) for release in RELEASES)
        assert bool(option.choices) == (option.kind in (Kind.CHOICE, Kind.CHOICES) or option.name == "--ompt-trace")
    assert option_named("--att") is option_named("--advanced-thread-trace")
    assert option_named("-x") is None


def test_releases_are_found_by_version() -> None:
    assert [release_of(text).rocm for text in ("6.2.4", "7.2.1", "7.12", "99", "7.13.0-12")] == [
        "6.2",
        "7.2",
        "7.11",
        "10.0.1",
        "7.13",
    ]
    assert release_of("").rocm == assumed().rocm_version == NEWEST.rocm == "7.14"
    for text in ("6.1", "5.7.1", "1"):
        with pytest.raises(UsageError, match=r"the first is ROCm 6\.2"):
            release_of(text)
    for text in ("seven", "v7", "-1", "\x1b[2J"):
        with pytest.raises(UsageError, match="not a version"):
            release_of(text)
    assert first_release_with("--att") == "7.0" and first_release_with("-f") == "7.0"
    assert first_release_with("--no-such") == ""
    assert has_trap((7, 11), "last pmc wins") and not has_trap((7, 13), "last pmc wins")


@RELEASE
def test_a_release_is_recognised_by_its_options(rocm: str) -> None:
    """A script without a version, as before 7.0 and in builds by hand."""
    from dataclasses import replace

    installation = replace(assumed(rocm), rocm_version="")
    assert installation.version == version_of(rocm)
    assert replace(installation, options=frozenset()).version == (6, 2)
    assert assumed("7.2.0").version == (7, 2, 0)


def test_spans_of_releases() -> None:
    assert is_within((7, 13, 1), "7.13") and is_within((6, 2, 4), "6.2", "6.2")
    assert not is_within((7, 2, 4), "7.13") and not is_within((7, 0), "6.2", "6.4")
    assert is_within((7,), "7.0")
