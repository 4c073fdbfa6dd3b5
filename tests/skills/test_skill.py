"""The skill for agents: its form, and that its commands run."""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.cli.in_process import call
from tests.kit.sampling import every_third
from wavewright.cli import VERBS

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "skills" / "wavewright"
PAGES = [SKILL / "SKILL.md", *sorted((SKILL / "references").glob("*.md"))]
sys.path.insert(0, str(ROOT / "tools"))
commands = import_module("make_howto_outputs").commands
#: Needs a GPU, or says that there is none.
WITH_GPU = ("wavewright doctor",)
COMMANDS = [command for page in PAGES for command in commands(page.read_text("utf-8"))]


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The demo's captures, by the words that the skill has for them."""
    folder = tmp_path_factory.mktemp("skill")
    for name, options in (("trace", []), ("runs", ["--run"]), ("counters", ["--counters"])):
        assert call("demo", *options, "--keep", folder / name, "--json").status == 0
    runs = sorted(path for path in (folder / "runs").iterdir() if path.is_dir())
    counters = sorted(path for path in (folder / "counters").iterdir() if path.is_dir())
    assert len(runs) == len(counters) == 2  # after, before
    return {
        "PATH": str(folder / "trace"),
        "TRACE": str(folder / "trace"),
        "RUN": str(runs[1]),
        "COUNTERS": str(counters[1]),
        "BEFORE": str(runs[1]),
        "AFTER": str(runs[0]),
    }


def test_its_form_is_that_of_agent_skills() -> None:
    _, head, body = (SKILL / "SKILL.md").read_text("utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["name"] == SKILL.name
    assert re.fullmatch(r"[a-z0-9-]{1,64}", about["name"])
    assert 0 < len(about["description"]) <= 1024
    assert len(body.splitlines()) <= 500


def test_the_verbs_that_it_names_exist() -> None:
    words = {word for page in PAGES for word in re.findall(r"`wavewright ([a-z][a-z0-9-]*)", page.read_text("utf-8"))}
    words |= {
        word
        for line in (SKILL / "SKILL.md").read_text("utf-8").partition("## 2.")[2].partition("## 3.")[0].splitlines()
        if line.startswith("| ")
        for word in re.findall(r"`([a-z][a-z0-9-]*)", line.rsplit("| ", 1)[1])
    }
    assert len(words) > 20
    assert sorted(words - set(VERBS)) == []


def test_its_evals_have_prompts_for_and_against() -> None:
    evals = json.loads((SKILL / "evals" / "evals.json").read_text("utf-8"))["evals"]
    assert sum(each["should_trigger"] for each in evals) >= 3
    assert sum(not each["should_trigger"] for each in evals) >= 2
    assert any(each.get("expected") for each in evals)


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("command", every_third(COMMANDS))
def test_its_commands_run(command: str, captures: dict[str, str]) -> None:
    words = [captures.get(word, word) for word in shlex.split(command)]
    assert words[0] == "wavewright"
    done = call(*words[1:])
    if command.startswith(WITH_GPU):
        assert "Traceback" not in done.stderr
        return
    assert done.status == 0, done.stderr
    assert done.stdout.strip()
    if "--brief" in words:
        assert len(done.stdout) <= 8000
