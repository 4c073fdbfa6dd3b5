from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from wavewright.capture.pool.jobs_file import read_jobs_file
from wavewright.capture.recipes import recipe, recipes
from wavewright.errors import UsageError

NAMES = ("flydsl", "hip", "mpi", "torch", "triton", "vllm")


def test_every_recipe_of_the_spec_is_there() -> None:
    assert tuple(recipes()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_jobs_file_is_one(name: str, tmp_path: Path) -> None:
    """The reader of `capture pool` takes it, with the variables, limits and program of the recipe."""
    chosen = recipe(name)
    path = tmp_path / "jobs.toml"
    path.write_text(chosen.jobs_file(("python", "a b.py", '"quoted"', "back\\slash", "\x07")), "utf-8")
    (job,) = read_jobs_file(path)
    assert job.job.wanted.program == ("python", "a b.py", '"quoted"', "back\\slash", "\x07")
    assert job.kind == chosen.kind
    assert {variable.name for variable in chosen.variables} <= set(job.job.wanted.variables)
    if name == "vllm":
        assert (job.job.limits.seconds, job.job.limits.grace_seconds) == (1800, 600)


@pytest.mark.parametrize("name", NAMES)
def test_line_is_what_a_shell_takes(name: str) -> None:
    chosen = recipe(name)
    words = shlex.split(chosen.line(("./a b",)))
    assert words[-2:] == ["--", "./a b"]
    assert words[: len(chosen.launcher) + 3] == [*chosen.launcher, "wavewright", "capture", chosen.kind]
    for variable in chosen.variables:
        assert any(word.startswith(f"{variable.name}=") for word in words)


def test_settings_of_the_spec() -> None:
    """Spec 9.8."""
    assert {each.name for each in recipe("flydsl").variables} == {
        "FLYDSL_DEBUG_ENABLE_DEBUG_INFO",
        "FLYDSL_RUNTIME_CACHE_DIR",
    }
    assert [(each.name, each.is_fresh_folder) for each in recipe("triton").variables] == [("TRITON_CACHE_DIR", True)]
    assert [(each.name, each.value) for each in recipe("vllm").variables] == [("VLLM_ENABLE_V1_MULTIPROCESSING", "0")]
    assert recipe("mpi").launcher[0] == "srun"


def test_no_such_recipe() -> None:
    with pytest.raises(UsageError, match="no recipe 'tensorflow'"):
        recipe("tensorflow")


def test_files_hold_nothing_else() -> None:
    folder = Path(str(recipes.__wrapped__.__globals__["__file__"])).parent
    for file in folder.glob("*.toml"):
        assert tomllib.loads(file.read_text("utf-8"))["title"]
