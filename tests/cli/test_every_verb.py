"""Every verb on every kind of input: an answer or one clear sentence, in text and in JSON.

Verbs are taken from the program; a new one is tested without being named here.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import write_counters
from synth.pc_samples import SampledRun, write_samples
from tests.cli.in_process import Done, call
from tests.kit.made_decoded import NAME, PLACEHOLDER, decoded_files, edit, write_decoded, write_files, zipped
from tests.kit.sampling import covering, every_third, every_third_pair
from wavewright.cli import _group
from wavewright.export.trace.tables import write_parquet

STRANGE = "[red]gemm[/] [/bold] :smile: \u202e日本"
SAMPLED = [
    ["; k", 0, 0, f"void {STRANGE}<int>()", 1, 0, 0, 0, 0, 0, 0, 0, [0] * 10, [0] * 10],
    ["s_waitcnt lgkmcnt(0)", 0, 1, "/src/[/]a.hip:7", 1, 0, 0, 0, 0, 0, 3, 9, [1] * 10, [2] * 10],
    ["s_endpgm", 0, 2, "/src/[/]a.hip:8", 1, 4, 0, 0, 0, 0, 3, 0, [0] * 10, [0] * 10],
]
COUNTERS = """Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp
1,gemm,TCC_HIT_sum,100,0,1000
1,gemm,TCC_MISS_sum,50,0,1000
1,gemm,TCC_EA0_RDREQ_sum,50,0,1000
"""
TRACES: tuple[str, ...] = (
    "raw",
    "decoded",
    "parent",
    "archive",
    "parquet",
    "strange",
    "samples",
    "occupancy",
    "nulls",
    "placeholder",
)
TRACES += ("sample_csv", "sample_json")
UNKNOWN = ("table.csv", "notes.txt", "junk.att", "empty", "missing")  #: What `info` can say nothing about.
OTHERS = ("counters.csv", "table.csv", "results.db", "notes.txt", "code.out", "junk.att", "empty", "missing")


def _command(verb: str) -> click.Command:
    command = _group.get_command(click.Context(_group), verb)
    assert command is not None
    return command


VERBS = [
    verb
    for verb in _group.list_commands(click.Context(_group))
    if any(isinstance(parameter, click.Argument) for parameter in _command(verb).params)
    and not any(
        {"--scheduler", "--engine", "--view", "--show-secrets", "--no-browser"} & {*parameter.opts}
        for parameter in _command(verb).params
    )
    and verb not in ("baseline", "gate", "plot", "report")  # they write files; tests of their own
]
"""Those that take the path of a trace and end: verbs about runs have a scheduler, an engine, views or an
environment, those that serve a page a browser (test_open.py)."""


def has(verb: str, option: str) -> bool:
    return any(option in parameter.opts for parameter in _command(verb).params)


COUNTER_VERBS = ["closure", "l2", *(verb for verb in VERBS if has(verb, "--dispatch") and has(verb, "--gpu"))]
"""Those about counter captures alone."""

CODE_VERBS = ["disassemble"]
"""Those about files with code; `decode` and `occupancy` take other paths, too."""


def kind_for(verb: str) -> str:
    """An input that the verb is made for."""
    return "counters" if verb in COUNTER_VERBS else "code.out" if verb in CODE_VERBS else "raw"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    capture = synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=2, realtime_pairs=2))
    write_capture(capture, folder / "raw")
    decoded = write_decoded(folder / "decoded")
    write_parquet(wavewright.open(decoded), folder / "parquet")
    shutil.copytree(decoded, folder / "parent" / NAME)
    write_files(folder / "parent" / "ui_output_agent_1_dispatch_3", PLACEHOLDER)
    write_files(folder / "placeholder" / NAME, PLACEHOLDER)
    zipped(folder / "archive", {f"{NAME}/{name}": data for name, data in decoded_files().items()})
    _strange(Path(shutil.copytree(decoded, folder / "strange" / NAME)))
    _nulls(Path(shutil.copytree(decoded, folder / "nulls" / NAME)))
    _occupancy(Path(shutil.copytree(decoded, folder / "occupancy" / NAME)))
    _samples(folder / "samples")
    write_samples(SampledRun(method="host_trap"), folder / "sample_csv")
    write_samples(SampledRun(), folder / "sample_json", form="json", with_code=True)
    write_counters(folder / "counters")
    _others(folder)
    return folder


def _strange(folder: Path) -> None:
    """Names that look like markup, times at the edge of what fits."""

    def rename(code: Any) -> None:
        for row in code["code"]:
            row[0] += f" {STRANGE}"
            row[3] = f"{STRANGE}/{row[3]}"

    edit(folder, "code.json", rename)
    edit(folder, "occupancy.json", lambda content: content.update(dispatches=dict.fromkeys("01", STRANGE)))
    wave = sorted(folder.glob("se*_wv*.json"))[0].name
    edit(folder, wave, lambda content: content["wave"].update(begin=-(1 << 63), end=(1 << 63) - 1))
    edit(folder, wave, lambda content: content["wave"]["instructions"][0].__setitem__(0, (1 << 63) - 1))


def _nulls(folder: Path) -> None:
    edit(folder, "filenames.json", lambda content: content.update({k: None for k in content if k.endswith("names")}))
    edit(folder, "code.json", lambda content: content.update(code=None))


def _occupancy(folder: Path) -> None:
    for file in folder.iterdir():
        if file.name not in ("filenames.json", "occupancy.json"):
            file.unlink()
    edit(folder, "filenames.json", lambda content: content.update(wave_filenames=None))


def _samples(folder: Path) -> None:
    header = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle, PC_Issued, PC_Stalled, A, B"
    manifest = json.loads(PLACEHOLDER["filenames.json"]) | {"pc_sampling": True, "is_pcs_stochastic": True}
    write_files(
        folder,
        {
            "code.json": json.dumps({"code": SAMPLED, "header": header, "version": "3.0.0"}).encode(),
            "filenames.json": json.dumps(manifest).encode(),
        },
    )


def _others(folder: Path) -> None:
    (folder / "counters.csv").write_text(COUNTERS)
    (folder / "table.csv").write_text("a,b\n1,2\n")
    (folder / "notes.txt").write_text("hello")
    (folder / "junk.att").write_bytes(b"\0\xff" * 500)
    (folder / "empty").mkdir()
    shutil.copy(next((folder / "raw").glob("*.out")), folder / "code.out")
    with sqlite3.connect(folder / "results.db") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()


@cache
def asked(verb: str, path: Path, *options: str) -> Done:
    """Ask once, however many tests look at the answer."""
    paths = [path, path] if verb == "compare" else [path]
    output = ["-o", path.parent / "written" / f"{verb}{path.name}{len(options)}"] if verb == "decode" else []
    formats = ["--format", "parquet", "--force"] if verb == "decode" else []
    return call(verb, *paths, *output, *formats, *options)


def check(done: Done) -> None:
    assert done.status in (0, 2, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert all(c.isprintable() for c in (done.stdout + done.stderr).replace("\n", "")), "control characters"
    if done.status:
        assert done.stdout == ""
        assert done.stderr.startswith(("error:", "Usage:"))


def parsed(done: Done) -> dict[str, Any]:
    answer = json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(f"{constant} in the JSON"))
    assert isinstance(answer, dict)
    assert answer["schema_version"] == 1
    assert isinstance(answer["losses"], list)
    return answer


def _traces() -> Iterator[Any]:
    """Every verb on two kinds, by turns; the rest is slow."""
    for (number, verb), (place, kind) in product(enumerate(VERBS), enumerate(TRACES)):
        is_quick = (number + place) % (len(TRACES) // 2) == 0
        yield pytest.param(verb, kind, marks=() if is_quick else pytest.mark.slow, id=f"{verb}-{kind}")


@pytest.mark.some_cases(11)
@pytest.mark.parametrize(("verb", "kind"), list(_traces()))
def test_traces(verb: str, kind: str, inputs: Path) -> None:
    text, encoded = asked(verb, inputs / kind), asked(verb, inputs / kind, "--json")
    check(text)
    assert encoded.status == text.status, encoded.stderr
    if not text.status:
        assert text.stdout
        parsed(encoded)


@pytest.mark.parametrize(("verb", "kind"), every_third_pair(VERBS, OTHERS))
def test_what_is_no_trace(verb: str, kind: str, inputs: Path) -> None:
    done = asked(verb, inputs / kind)
    check(done)
    if kind == "counters.csv" and verb in COUNTER_VERBS:
        return  # its GPU is not known, which some of these verbs must know
    of_counters = kind == "counters.csv" and verb in ("compare", "diagnose")
    of_code = kind == "code.out" and verb in (*CODE_VERBS, "occupancy")
    assert bool(done.status) is not (of_counters or of_code or (verb == "info" and kind not in UNKNOWN))


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_counter_captures(verb: str, inputs: Path) -> None:
    text, encoded = asked(verb, inputs / "counters"), asked(verb, inputs / "counters", "--json")
    check(text)
    assert encoded.status == text.status, encoded.stderr
    fits = verb in (*COUNTER_VERBS, "compare", "diagnose", "info")
    assert bool(text.status) is not fits, text.stderr
    if fits:
        assert text.stdout
        parsed(encoded)
    elif verb not in ("metrics", *CODE_VERBS):  # which take a name or a file, not a capture
        assert "wavewright counters" in text.stderr


@pytest.mark.some_cases(9)
@pytest.mark.parametrize("verb", VERBS)
def test_names_are_printed_as_they_are(verb: str, inputs: Path) -> None:
    done = asked(verb, inputs / "strange")
    assert "gemm[/]" in done.stdout or "gemm" not in done.stdout
    assert "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}" not in done.stdout


TABLE_VERBS = [verb for verb in VERBS if has(verb, "--top")]


def test_every_verb_about_traces_and_counters_has_all_forms() -> None:
    for verb in TABLE_VERBS:
        assert has(verb, "--csv"), verb
        assert has(verb, "--json"), verb
    assert {"hotspots", "stalls", "occupancy", "l2", "counters"} <= set(TABLE_VERBS)


@pytest.mark.some_cases(6)
@pytest.mark.parametrize("verb", TABLE_VERBS)
def test_csv_is_one_table_and_json_names_its_inputs(inputs: Path, verb: str) -> None:
    path = inputs / kind_for(verb)
    done = asked(verb, path, "--csv")
    assert done.status == 0, done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert len(rows) > 1 or verb in ("barriers", "traffic")  # the kernel has none; nobody gave its grid
    assert {len(row) for row in rows} == {len(rows[0])}
    answer = parsed(asked(verb, path, "--json"))
    assert answer["inputs"] == [str(path)]
    assert "input" not in answer


@pytest.mark.some_cases(4)
@pytest.mark.parametrize("verb", TABLE_VERBS)
def test_top(verb: str, inputs: Path) -> None:
    kind = kind_for(verb)
    one, every = asked(verb, inputs / kind, "--top", "1"), asked(verb, inputs / kind, "--top", "0")
    check(one)
    check(every)
    assert len(one.stdout) <= len(every.stdout)
    assert "showing" not in every.stdout or verb == "diagnose"  # where each finding names its first rows
    for name, table in parsed(asked(verb, inputs / kind, "--json", "--top", "1")).items():
        if verb in ("memory-chart", "roofline") and name != "kernels":
            continue  # parts of a picture, which is whole with few kernels too
        if isinstance(table, dict) and "rows" in table:
            assert len(table["rows"]) == min(1, table["row_count"])


NOTHING = [
    ("--kernel", "no such kernel"),
    ("--se", "99"),
    ("--se", "-1"),
    ("--simd", "99"),
    ("--wave", "99999999999999999999"),
    ("--time", "5:1"),
    ("--time", "x"),
    ("--time", f"{10**15}:"),
    ("--time", f"{-(10**30)}:{-(10**29)}"),
    ("--file", "no such file"),
    ("--line", "99999999999999"),
    ("--dispatch", "99"),
]


@pytest.mark.some_cases(35)
@pytest.mark.parametrize(("verb", "option"), every_third_pair(VERBS, NOTHING))
def test_a_choice_of_nothing_is_an_error(verb: str, option: tuple[str, str], inputs: Path) -> None:
    if not has(verb, option[0]):
        pytest.skip("the verb has no such option")
    done = asked(verb, inputs / kind_for(verb), *option)
    check(done)
    assert done.status == 2
    if done.stderr.startswith("error:"):
        assert "  try: " in done.stderr


@pytest.mark.some_cases(5)
@pytest.mark.parametrize(
    ("verb", "option"),
    covering(
        [verb for verb in VERBS if has(verb, "--time")],
        [("--time", f"{-(10**30)}:{10**30}"), ("--time", "0:0x7fffffffffffffff")],
    ),
)
def test_a_choice_of_everything_changes_nothing(verb: str, option: tuple[str, str], inputs: Path) -> None:
    whole, chosen = (parsed(asked(verb, inputs / "raw", "--json", *more)) for more in ((), option))
    if verb == "states":  # curves begin and end with the chosen waves
        whole, chosen = whole["states"]["total"], chosen["states"]["total"]
    assert chosen == whole


@pytest.mark.parametrize("verb", every_third(VERBS))
def test_a_terminal_without_unicode(verb: str, inputs: Path) -> None:
    paths = [inputs / "strange"] * (2 if verb == "compare" else 1)
    done = call(verb, *paths, encoding="ascii")
    assert done.status in (0, 2, 3), done.stderr


@pytest.mark.parametrize("verb", _group.list_commands(click.Context(_group)))
def test_help(verb: str) -> None:
    done = call(verb, "--help")
    assert (done.status, done.stderr) == (0, "")
    assert "--json" in done.stdout


def test_the_verbs_without_a_path(inputs: Path) -> None:
    parsed(call("demo", "--json"))
    parsed(call("occupancy", "--target", "gfx942", "--vgprs", "128", "--json"))


def test_a_part_without_neighbours_says_nothing_about_barriers(inputs: Path) -> None:
    write_capture(synthesize(Scenario(kernels=(compiled("tiled_gemm", "gfx942"),))), inputs / "gemm")
    assert "costs" in call("barriers", inputs / "gemm").stdout
    assert "\nno two waves of a workgroup" in call("barriers", inputs / "gemm", "--wave", "0").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", "a" * 5000),
        ("demo", "--keep", "/dev/null/x"),
        ("stalls", "/dev/null/x"),
        ("stalls", ".", "--top", "9" * 30),
    ],
    ids=lambda arguments: arguments[0],
)
def test_arguments_that_cannot_be_used(arguments: tuple[str, ...]) -> None:
    done = call(*arguments)
    check(done)
    assert done.status == 2
    assert len(done.stderr) < 1000
