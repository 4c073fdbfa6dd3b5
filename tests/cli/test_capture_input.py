"""`capture -i FILE` as users call it, and files that nobody should have to read."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.in_process import call
from tests.unit.capture.inputs.traps import BESIDE, FILES, SEED_3

RELEASES = ("6.2", "6.3", "6.4", "7.0", "7.2", "7.13", "7.14", "10.0")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def test_the_file_of_the_seed_is_checked() -> None:
    Path("input.yaml").write_text(SEED_3)
    done = call("capture", "-i", "input.yaml", "--rocm-version", "7.2")
    assert done.status == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "ROCm 7.2: 1 job" in text
    assert "launch 1 is among them" in text
    assert 'write "3 4"' in text
    assert not [path for path in Path().iterdir() if path.name != "input.yaml"]


def test_what_is_not_as_meant_ends_with_status_1() -> None:
    Path("input.yaml").write_text(BESIDE)
    assert call("capture", "-i", "input.yaml", "--rocm-version", "7.2").status == 1
    Path("input.json").write_text(FILES["several thread traces"][1])
    assert call("capture", "-i", "input.json", "--rocm-version", "7.13").status == 1
    assert call("capture", "-i", "input.json", "--rocm-version", "7.11").status == 0


def test_json_has_every_job() -> None:
    Path("input.json").write_text(FILES["passes and a trace"][1])
    done = call("capture", "-i", "input.json", "--rocm-version", "7.14", "--json")
    answer = json.loads(done.stdout)
    assert [job["is_good"] for job in answer["jobs"]] == [True, False, True]
    assert answer["jobs"][1]["findings"][0]["level"] == "error"


def test_a_dry_run_shows_one_command_per_job() -> None:
    Path("input.json").write_text(FILES["several thread traces"][1])
    done = call("capture", "-i", "input.json", "--dry-run", "--rocm-version", "7.13", "--json", "--", "./app", "x")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["event"] == "checked"
    planned = [event for event in events if event["event"] == "planned" and event["wanted"]["kind"] == "att"]
    assert len(planned) == 2
    assert planned[1]["commands"][0]["words"][-3:] == ["--", "./app", "x"]


def test_passes_become_one_capture() -> None:
    Path("input.txt").write_text("pmc: SQ_WAVES\npmc: GRBM_COUNT\n")
    done = call("capture", "-i", "input.txt", "--dry-run", "--rocm-version", "7.2", "--json", "--", "./app")
    planned = [json.loads(line) for line in done.stdout.splitlines()][1:]
    assert len(planned) == 1
    assert [command["words"][2] for command in planned[0]["commands"]] == ["SQ_WAVES", "GRBM_COUNT"]


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_every_trap_in_every_release_is_answered(release: str) -> None:
    Path("extra.yaml").write_text("rocprofiler-sdk: {}\n")
    for at, (suffix, text) in enumerate(FILES.values()):
        name = f"{at}{suffix}"
        Path(name).write_text(text, newline="")
        done = call("capture", "-i", name, "--rocm-version", release)
        assert done.status in (0, 1), (text, done.stderr)
        assert done.stderr == ""
        assert f"ROCm {release}" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("deep.yaml", b"[" * 100_000, "deep"),
        ("deep.json", b"[" * 100_000, "deep"),
        ("maps.yaml", b"{a: " * 50_000, "deep"),
        (
            "bomb.yaml",
            b"a: &a [x,x,x,x,x,x,x,x,x]\n"
            + b"".join(b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)),
            "more than",
        ),
        ("merge.yaml", b"a: &a {k0: 1}\n" + b"".join(
            b"%c: &%c {<<: [%s]}\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)
        ), "more than"),
        ("self.yaml", b"jobs: &a [*a]", "deep"),
        ("binary.yaml", bytes(range(256)) * 20, "not UTF-8"),
        ("nul.yaml", b"jobs: \x00", "not YAML"),
        ("huge.json", b" " * (3 << 20), "more than"),
        ("date.yaml", b"jobs: [{output_file: 2025-13-45}]", "cannot read"),
        ("tag.yaml", b"jobs: [!!python/object/apply:os.system [id]]", "not YAML"),
        ("two.yaml", b"---\njobs: []\n---\njobs: []\n", "not YAML"),
        ("digits.json", b"1" * 6000, "deep"),
        ("bom.json", b"\xef\xbb\xbf{}", "not JSON"),
        ("input.cfg", b"jobs: []", "extension"),
        ("input", b"jobs: []", "extension"),
        ("INPUT.YAML", b"jobs: []", "extension"),
    ],
)  # fmt: skip
def test_files_of_strangers_are_one_sentence(name: str, content: bytes, said: str) -> None:
    Path(name).write_bytes(content)
    start = time.process_time()
    done = call("capture", "-i", name, "--rocm-version", "7.2")
    assert time.process_time() - start < 5
    assert done.status == 2
    assert said in done.stderr
    assert len(done.stderr) < 600
    assert done.stdout == ""


@pytest.mark.some_cases(5)
@pytest.mark.parametrize(
    "value", ["null", "1", "true", '"x"', "[]", "[1]", "[null]", "{}", '{"a": 1}', "1e999", "[[[]]]"]
)
def test_wrong_types_everywhere_are_answered(value: str) -> None:
    keys = json.dumps(sorted({key for _, text in FILES.values() if text.startswith("{") for key in _keys(text)}))
    jobs = ", ".join(f'{{"{key}": {value}}}' for key in json.loads(keys))
    everywhere = f'{{"jobs": [{jobs}]}}'
    for text, release in (
        (value, "7.14"),
        (f'{{"jobs": {value}}}', "6.3"),
        (f'{{"jobs": [{value}]}}', "7.14"),
        (everywhere, "6.3"),
        (everywhere, "7.14"),
    ):
        Path("input.json").write_text(text)
        done = call("capture", "-i", "input.json", "--rocm-version", release)
        assert done.status in (0, 1, 2), done.stderr
        assert "Traceback" not in done.stderr
        assert "bug" not in done.stderr


def _keys(text: str) -> list[str]:
    jobs = json.loads(text).get("jobs") or []
    return [key for job in jobs if isinstance(job, dict) for key in job]


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_jobs_take_seconds(count: int) -> None:
    Path("many.yaml").write_text("jobs:\n" + "".join(f"- {{pmc: [C{at}]}}\n" for at in range(count)))
    start = time.process_time()
    done = call("capture", "-i", "many.yaml", "--rocm-version", "7.14")
    assert time.process_time() - start < count / 500
    assert done.status == 0
    assert f"{count:,} jobs" in done.stdout
    assert len(done.stdout) < 20_000


def test_hostile_keys_do_not_steer_the_terminal() -> None:
    Path("input.yaml").write_text('jobs: [{"\\e]0;x\\a\\e[2Jkernel_trace": 1, "\\u202e": "\\e[31m"}]')
    done = call("capture", "-i", "input.yaml", "--rocm-version", "7.2")
    assert done.status == 1
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_what_cannot_be_run_is_refused() -> None:
    Path("input.json").write_text('{"jobs": [{"foo": 1}]}')
    done = call("capture", "-i", "input.json", "--dry-run", "--rocm-version", "7.2", "--", "./app")
    assert done.status == 2
    assert "nothing in it that can be run" in done.stderr
    assert call("capture", "-i", "nowhere.json", "--rocm-version", "7.2").status == 2
    assert call("capture", "input").status == 2
