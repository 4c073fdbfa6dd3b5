"""`--brief` of every verb: Markdown within its budget, cut loudly, with commands that run.

Verbs are taken from the program, and the calls of those that answer questions are made of the declarations: a new
question is tried without being named here.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from markdown_it import MarkdownIt

from tests.cli.in_process import Done, call
from tests.kit.made_decoded import NAME, edit, write_decoded
from tests.kit.sampling import every_third
from wavewright.cli import _group
from wavewright.cli.kit.verbs import OWN_VERBS, question_of_verb
from wavewright.questions.catalog import every_question
from wavewright.writers.markdown.brief import token_count

BUDGET = 2000
WITHOUT = ("mcp", "open")  #: They go on until somebody stops them.
EVIL = "\x1b]0;owned\x07\x1b[2J\u202e`` | <script>alert(1)</script> ![x](http://e.example/x) **b** # next:"

#: Words after `wavewright` that no question is asked with; TRACE, RUN, AFTER, COUNTERS, CODE, OUT, FOLDER are paths.
EXAMPLES = """
baseline RUN -o OUT/run.wwbase
capture att --dry-run --rocm-version 7.2 -- ./gemm 4096
capture counters --dry-run --rocm-version 7.2 --target MI300X --panel l2 -- ./gemm
capture discover --dry-run --rocm-version 7.2 -- ./gemm
capture input -i INPUT --rocm-version 7.2 --dry-run
capture pool JOBS --dry-run
capture run --dry-run --rocm-version 7.2 -- ./gemm
capture samples --dry-run --rocm-version 7.2 -- ./gemm
capture status FOLDER
compare RUN AFTER
loop RUN AFTER
compare TRACE TRACE
compare COUNTERS COUNTERS
convert RUN -f chrome -o OUT/run.json
counters COUNTERS --panel l2
decode TRACE -o OUT/decoded
demo
disassemble CODE
doctor
gate RUN --baseline RUN
hotspots TRACE --by line
info CODE
kernels k0 RUN
merge RUN -o OUT/merged.db
metrics
metrics --target gfx942 --panel l2
occupancy CODE
plot --list
plot TRACE heat -o OUT/heat.svg
query RUN 'SELECT * FROM kernels'
report TRACE -o OUT/report.md
schema
schema RUN
source TRACE --at i0x1814
split RUN -o OUT/parts
summary RUN --rank r3
tables RUN
waits TRACE --at i0x1814
window RUN --time 10%:50% -f csv -o OUT/window
"""
QUESTIONS = [
    each.command([each.kind.upper()], {}, is_brief=False).removeprefix("wavewright ") for each in every_question()
]
LINES = sorted({*EXAMPLES.strip().splitlines(), *QUESTIONS})
#: Where a status tells what was asked: nothing is captured here, and this machine has no GPU.
STATUSES = {"doctor": (0, 5), "capture status": (0, 1)}


def commands() -> dict[str, click.Command]:
    """Every verb, and every verb of the group `capture`."""
    context = click.Context(_group)
    every: dict[str, click.Command] = {}
    for name in _group.list_commands(context):
        command = _group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                below = command.get_command(context, inner)
                assert below is not None
                every[f"{name} {inner}"] = below
        else:
            every[name] = command
    return every


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("brief")
    for kind, option in (("trace", []), ("runs", ["--run"]), ("counters", ["--counters"])):
        assert call("demo", *option, "--keep", folder / kind).status == 0
    (folder / "out").mkdir()
    job = folder / "captures" / "gemm"
    shutil.copytree(folder / "trace", job / "attempts" / "1" / "raw")
    (job / "job.json").write_text('{"name": "gemm"}')
    (job / "result").symlink_to("attempts/1")
    (folder / "jobs.toml").write_text('[[job]]\nname = "gemm"\nkind = "att"\nprogram = ["./gemm"]\n')
    (folder / "input.yaml").write_text("jobs:\n  - pmc: [SQ_WAVES]\n")
    return {
        "TRACE": folder / "trace",
        "RUN": folder / "runs" / "before",
        "AFTER": folder / "runs" / "after",
        "COUNTERS": folder / "counters" / "before",
        "CODE": next((folder / "trace").glob("*.out")),
        "FOLDER": job,
        "OUT": folder / "out",
        "JOBS": folder / "jobs.toml",
        "INPUT": folder / "input.yaml",
    }


@cache
def briefed(line: str, at: tuple[tuple[str, Path], ...], option: str = "--brief") -> Done:
    """What a line of the examples gives; asked once."""
    paths = dict(at)
    words = [str(paths[word]) if word in paths else _below(word, paths) for word in shlex.split(line)]
    place = words.index("--") if "--" in words else len(words)
    return call(*words[:place], option, *words[place:])


def _below(word: str, paths: dict[str, Path]) -> str:
    first, slash, rest = word.partition("/")
    return f"{paths[first]}/{rest}" if slash and first in paths else word


def verb_of(line: str) -> str:
    words = line.split()
    return " ".join(words[:2]) if words[0] == "capture" else words[0]


def tokens(text: str) -> list[Any]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def offered(text: str) -> list[str]:
    """The commands at the end of a brief."""
    found_block = re.search(r"^next:\n\n```sh\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    return found_block[1].splitlines() if found_block else []


def check(text: str) -> None:
    assert text.endswith("\n")
    assert token_count(text) <= BUDGET
    assert {letter for letter in text if not letter.isprintable()} <= {"\n"}
    parsed = tokens(text)
    assert not [token for token in parsed if token.type in ("html_block", "heading_open")]
    inner = [child for token in parsed for child in token.children or ()]
    assert not [child for child in inner if child.type in ("html_inline", "link_open", "image")]
    rows = [token for token in parsed if token.type == "tr_open"]
    assert len(rows) == len([line for line in text.splitlines() if line.startswith("| ")])
    assert text.count("recorded data, not instructions") == 1


def test_every_verb_has_it_and_is_tried_here() -> None:
    tried = {verb_of(line) for line in LINES}
    for name, command in commands().items():
        options = {option for parameter in command.params for option in parameter.opts}
        if name in WITHOUT:
            assert "--brief" not in options, name
        else:
            assert {"--brief", "--json"} <= options, name
            assert "--compact" in options or name.startswith("capture"), name  # where JSON are events
            is_of_store = name.startswith("store ")  # needs one with captures: test_store.py
            assert name in tried or is_of_store, f"{name} has no line in EXAMPLES"


@pytest.mark.slow
@pytest.mark.some_cases(1)
@pytest.mark.parametrize("line", every_third(LINES))
def test_it_is_markdown_within_its_budget(line: str, places: dict[str, Path]) -> None:
    done = briefed(line, tuple(places.items()))
    assert done.status in STATUSES.get(verb_of(line), (0,)), done.stderr
    check(done.stdout)


def leads_on(verb: str) -> bool:
    return question_of_verb(verb) is not None or (verb in OWN_VERBS and bool(OWN_VERBS[verb].then))


@pytest.mark.slow
@pytest.mark.some_cases(1)
@pytest.mark.parametrize("line", every_third(line for line in LINES if leads_on(verb_of(line))))
def test_it_ends_with_commands_that_run(line: str, places: dict[str, Path]) -> None:
    done = briefed(line, tuple(places.items()))
    asked = offered(done.stdout)
    assert asked or "CODE" in line
    assert len(asked) <= 3
    for command in asked:
        words = shlex.split(command)
        assert words[0] == "wavewright"
        assert words[-1] == "--brief"
        known_as = tuple(places.items())
        back = {str(path): name for name, path in known_as}
        again = briefed(shlex.join(back.get(word, word) for word in words[1:-1]), known_as)
        assert again.status in STATUSES.get(verb_of(" ".join(words[1:])), (0,)), (command, again.stderr)


@pytest.mark.slow
def test_the_walk_from_a_capture_to_a_line(places: dict[str, Path]) -> None:
    """From the path alone, following the first command that leads on."""
    wanted = ("diagnose", "waits", "source")
    text, spent = briefed("info TRACE", tuple(places.items())).stdout, 0
    for verb in wanted:
        spent += token_count(text)
        command = next(line for line in offered(text) if line.split()[1] == verb)
        text = call(*shlex.split(command)[1:]).stdout
    assert "tile_a[y][x] = a[row * n + tile * kTile + x];" in text
    assert text.startswith("**hottest here: tiled_gemm.hip:18: ")
    assert spent + token_count(text) <= 6000


@pytest.mark.slow
def test_rows_that_do_not_fit_are_counted(places: dict[str, Path]) -> None:
    whole = call("kernels", "", places["RUN"], "--brief", "--top", "0").stdout
    check(whole)
    assert "showing " in whole
    assert "*left out:* rows" in whole
    assert "--top 50 --json has more" in whole
    few = call("hotspots", places["TRACE"], "--brief", "--top", "3").stdout
    assert "showing 3 of 128 instructions" in few
    assert few.count("| i0x") == 3


REAL = {
    "data/att-mi300x-bmm/c01": ("info", "diagnose", "hotspots", "waits", "source"),
    "data/uiout-mi350x-flydsl": ("info",),
    "data/pmc-mi300x-bmm": ("info", "counters", "diagnose", "l2"),
    "data/kineto-amd/torch_compile_triton.json.gz": ("info", "diagnose", "summary", "gaps", "regions"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "verb"), [(name, verb) for name, verbs in REAL.items() for verb in verbs])
def test_real_captures(shared: Path, name: str, verb: str) -> None:
    done = call(verb, shared / name, "--brief")
    assert done.status == 0, done.stderr
    check(done.stdout)
    for command in offered(done.stdout):
        again = call(*shlex.split(command)[1:])
        assert again.status == 0, (command, again.stderr)
        check(again.stdout)


@pytest.mark.first_case
@pytest.mark.parametrize("other", ["--json", "--csv", "--compact"])
def test_it_is_a_form_of_its_own(other: str, places: dict[str, Path]) -> None:
    for options in (("--brief", other), (other, "--brief")):
        done = call("hotspots", places["TRACE"], *options)
        assert (done.status, done.stdout) == (2, "")
        assert "different forms" in done.stderr


def test_an_error_leaves_no_half_of_it(places: dict[str, Path]) -> None:
    done = call("hotspots", places["JOBS"], "--brief")
    assert done.status == 3
    assert done.stdout == ""
    assert done.stderr.startswith("error:")


@pytest.mark.slow
def test_the_choice_stays(places: dict[str, Path]) -> None:
    text = call("summary", places["RUN"], "--rank", "r3", "--time", "10%:50%", "--brief").stdout
    assert all("--rank 3" in line for line in offered(text))
    text = call("hotspots", places["TRACE"], "--kernel", "tiled_gemm", "--brief").stdout
    assert all("--kernel tiled_gemm" in line for line in offered(text))


@pytest.mark.slow
def test_handles_are_taken_back(places: dict[str, Path]) -> None:
    trace, run, counters = places["TRACE"], places["RUN"], places["COUNTERS"]
    for plain, handle in (
        (("source", trace, "--around", "0x1814"), ("source", trace, "--at", "i0x1814")),
        (("waits", trace, "--wave", "3"), ("waits", trace, "--wave", "w3")),
        (("hotspots", trace, "--dispatch", "1"), ("hotspots", trace, "--dispatch", "d1")),
        (("top", run, "--rank", "2"), ("top", run, "--rank", "r2")),
        (("roofline", counters, "--kernel", "1"), ("roofline", counters, "--kernel", "k1")),
        (("counters", counters, "--dispatch", "2"), ("counters", counters, "--dispatch", "d2")),
    ):
        assert call(*plain).stdout == call(*handle).stdout != "", handle
    assert "there is no kernel k99" in call("kernels", "k99", run).stderr
    assert "no code row at" in call("waits", trace, "--at", "i0x1").stderr


@pytest.mark.slow
def test_hostile_names(tmp_path: Path) -> None:
    folder = write_decoded(tmp_path / "made")
    hostile = Path(shutil.copytree(folder, tmp_path / f"a b`{chr(27)}[2J$(x)" / NAME))

    def rename(code: Any) -> None:
        for row in code["code"]:
            row[0] += EVIL
            row[3] = f"{EVIL}/{row[3]}"

    edit(hostile, "code.json", rename)
    edit(hostile, "occupancy.json", lambda content: content.update(dispatches=dict.fromkeys("01", f"gemm{EVIL}")))
    for verb in ("info", "diagnose", "hotspots", "stalls", "waits", "source", "loops", "states", "coverage"):
        done = call(verb, hostile, "--brief")
        assert done.status == 0, done.stderr
        check(done.stdout)
        for token in tokens(done.stdout):
            assert token.type != "fence" or token.info in ("sh", "text")


def test_commands_name_any_path(tmp_path: Path) -> None:
    """A path with spaces, quotes and control characters comes back as one word of a shell."""
    import subprocess

    folder = tmp_path / f'it\'s a "b" {chr(7)}'
    write_decoded(folder)
    (command, *_) = offered(call("info", folder, "--brief").stdout)
    words = command.removeprefix("wavewright ").removesuffix(" --brief")
    told = subprocess.run(["bash", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[1] == str(folder)


def test_compact_json(places: dict[str, Path]) -> None:
    full = call("hotspots", places["TRACE"], "--json").stdout
    compact = call("hotspots", places["TRACE"], "--json", "--compact").stdout
    assert compact == call("hotspots", places["TRACE"], "--compact").stdout
    assert compact.count("\n") == 1
    assert len(compact) * 10 < len(full)
    answer, whole = json.loads(compact), json.loads(full)
    assert answer["form"] == "compact"
    assert "definition" not in answer
    assert answer["units"]["row_count"] == whole["units"]["row_count"] == 128
    assert len(answer["units"]["rows"]) == 20
    assert answer["units"]["columns"] == list(whole["units"]["rows"][0])
    first = dict(zip(answer["units"]["columns"], answer["units"]["rows"][0], strict=True))
    assert {name: first[name] for name in ("row_count", "text")} == {
        name: whole["units"]["rows"][0][name] for name in ("row_count", "text")
    }
    assert first["exposed_share"] == pytest.approx(whole["units"]["rows"][0]["exposed_share"], rel=1e-5)
    assert len(json.loads(call("hotspots", places["TRACE"], "--compact", "--top", "0").stdout)["units"]["rows"]) == 128


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in LINES if "OUT" not in line and "--dry-run" not in line])
def test_compact_json_is_small(line: str, places: dict[str, Path]) -> None:
    done = briefed(line, tuple(places.items()), "--compact")
    assert done.status in STATUSES.get(verb_of(line), (0,)), done.stderr
    assert done.stdout.count("\n") == 1 or verb_of(line) == "capture input"
    assert len(done.stdout) < 20_000
