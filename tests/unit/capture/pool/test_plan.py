"""The plan of a pool, the order of its jobs, its script for Slurm, its state, and what can be removed."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.capture.pool.test_jobs_file import FULL, read
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.manifest import Manifest
from wavewright.capture.pool.child import ERROR_FILE
from wavewright.capture.pool.cleaning import Removable, removable, remove
from wavewright.capture.pool.jobs_file import PoolJob
from wavewright.capture.pool.plan import job_folder, planned_job, read_plan, work_folder, write_plan
from wavewright.capture.pool.schedule import longest_first, prepare
from wavewright.capture.pool.slurm import element_jobs, slurm_script, write_script
from wavewright.capture.pool.status import State, status_of
from wavewright.capture.wanted import Discovery
from wavewright.errors import OutputError, UsageError


def job(name: str, **values: object) -> PoolJob:
    return PoolJob(id=name, job=Job(wanted=Discovery(program=("true",)), name=name), **values)  # type: ignore[arg-type]


def test_plan_comes_back(tmp_path: Path) -> None:
    jobs = read(tmp_path, FULL)
    write_plan(tmp_path, jobs)
    assert read_plan(tmp_path) == jobs
    for each in jobs:
        assert planned_job(tmp_path, each.id) == each
    with pytest.raises(UsageError, match="no job 'abc'"):
        planned_job(tmp_path, "abc")
    assert not list(tmp_path.glob(".plan-*"))


@pytest.mark.parametrize("line", ["", "{", "[]", '{"id": "x"}', '{"v":1,"id":"a","job":{"wanted":{"kind":"y"}}}'])
def test_damaged_plan(tmp_path: Path, line: str) -> None:
    (tmp_path / "plan.jsonl").write_text(line + "\n")
    with pytest.raises(UsageError, match="not understood"):
        read_plan(tmp_path)


def test_folders(tmp_path: Path) -> None:
    jobs = [job("a")]
    prepare(tmp_path / "new", jobs, is_resumed=False)
    with pytest.raises(UsageError, match="--resume"):
        prepare(tmp_path / "new", jobs, is_resumed=False)
    prepare(tmp_path / "new", jobs, is_resumed=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(UsageError, match="not that of a pool"):
        prepare(tmp_path / "other", jobs, is_resumed=True)
    with pytest.raises(UsageError, match="cannot use"):
        prepare(tmp_path / "other" / "file", jobs, is_resumed=False)
    with pytest.raises(UsageError, match="not the folder of a pool"):
        read_plan(tmp_path)


def test_longest_first(tmp_path: Path) -> None:
    """By the jobs file, by what the same job took here, by a job of that name in another pool; else the mean."""
    jobs = [
        job("short", expected_seconds=1),
        job("unknown"),
        job("here"),
        job("before"),
        job("long", expected_seconds=99),
    ]
    Manifest(_made(job_folder(tmp_path, "here"))).append("here", "ended", attempt=1, seconds=60.0)
    earlier = tmp_path / "earlier"
    prepare(earlier, [job("before")], is_resumed=False)
    manifest = Manifest(_made(job_folder(earlier, "before")))
    for seconds in (20.0, 10.0):
        manifest.append("before", "ended", attempt=1, seconds=seconds)
    order = [each.name for each in longest_first(jobs, tmp_path, earlier)]
    assert order == ["long", "here", "unknown", "before", "short"]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_script_for_slurm(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    jobs = [job(f"j{number}") for number in range(2500)]
    text = slurm_script(folder, jobs, script="x y.sh", words=["--wait", "60"])
    assert "#SBATCH --array=0-999%8\n" in text
    assert "#SBATCH --gpus-per-task=1\n" in text
    assert "#SBATCH --signal=B:INT@120\n" in text
    assert f'#SBATCH --output="{folder}/workers/slurm-%A_%a.log"\n' in text
    assert f"-o {shlex.quote(str(folder))} --wait 60 --element " in text
    write_script(tmp_path / "x.sh", text)
    subprocess.run(["bash", "-n", tmp_path / "x.sh"], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", tmp_path / "x.sh"], check=True)
    with pytest.raises(UsageError, match="exists"):
        write_script(tmp_path / "x.sh", text)
    write_script(tmp_path / "x.sh", text, force=True)
    shares = [element_jobs(jobs, f"{number}/1000") for number in range(1000)]
    assert sorted(each.name for share in shares for each in share) == sorted(each.name for each in jobs)
    for element in ("", "1", "2/2", "-1/2", "a/b", "1/0", "1/2/3", "9" * 20 + "/1"):
        with pytest.raises(UsageError, match="element"):
            element_jobs(jobs, element)
    with pytest.raises(UsageError, match="choose another folder"):
        slurm_script(tmp_path / 'a"b', jobs, script="x")


@pytest.mark.first_case
@pytest.mark.parametrize("delay", ["", "sleep 0.5; "])
def test_script_is_signalled(tmp_path: Path, delay: str) -> None:
    """Slurm's INT reaches the pool as TERM, its end is waited for, and the element is queued again.

    Also when it comes before the shell knows the number of the pool.
    """
    text = slurm_script(tmp_path, [job("a")], script="x").replace("pool=$!", f"{delay}pool=$!")
    begin, end = text.index("--element"), text.index(f" &\n{delay}pool=")
    pool = "bash -c 'trap \"sleep 0.2; echo gentle; exit 143\" TERM; echo up; while :; do sleep 0.05; done'"
    script = text[: text.rindex("\n", 0, begin)] + '\nscontrol() { echo scontrol "$@"; }\n' + pool + text[end:]
    variables = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_JOB_ID": "7"}
    with subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, text=True, env=variables) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(2)
        assert process.stdout.read() == "gentle\nscontrol requeue 7_0\n"
    assert process.returncode == 0


def test_states(tmp_path: Path) -> None:
    names = ("waiting", "interrupted", "good", "empty", "error", "torn")
    prepare(tmp_path, [job(name) for name in names], is_resumed=True)
    for name in names[1:]:
        if name == "error":
            problem = {"status": 2, "what": "no such option"}
            (_made(work_folder(tmp_path, name)) / ERROR_FILE).write_text(json.dumps(problem))
            continue
        manifest = Manifest(_made(job_folder(tmp_path, name)))
        manifest.append(name, "started", attempt=1)
        if name in ("good", "empty"):
            manifest.append(name, "ended", attempt=1, seconds=2.5)
            manifest.append(name, "judged", attempt=1, verdict=name, reasons=["because"])
            manifest.append(name, "finished", attempt=1, verdict=name)
        if name == "torn":
            manifest.append(name, "judged", attempt=1, verdict="good")
            with manifest.path.open("ab") as stream:
                stream.write(b'{"v":1,"event":"finis')
    status = status_of(tmp_path)
    states = {each.name: each.state for each in status.jobs}
    assert states == {
        "waiting": State.WAITING,
        "interrupted": State.INTERRUPTED,
        "good": State.FINISHED,
        "empty": State.FINISHED,
        "error": State.ERROR,
        "torn": State.INTERRUPTED,
    }
    by_name = {each.name: each for each in status.jobs}
    assert (by_name["good"].seconds, by_name["good"].is_good) == (2.5, True)
    assert (by_name["empty"].reason, by_name["empty"].is_kept) == ("because", False)
    assert by_name["error"].reason == "no such option"
    assert status.exit_code == 1
    assert status.verdicts == {"good": 1, "empty": 1}
    single = status_of(job_folder(tmp_path, "good"))
    assert [each.verdict for each in single.jobs] == ["good"]
    for folder in (tmp_path / "nothing", work_folder(tmp_path, "error")):
        with pytest.raises(UsageError):
            status_of(folder)


def test_what_can_go(tmp_path: Path) -> None:
    prepare(tmp_path, [job("done"), job("begun")], is_resumed=True)
    for name in ("done", "begun", "dropped"):
        place = job_folder(tmp_path, name)
        for number in (1, 2):
            raw = _made(place / "attempts" / str(number) / "raw" / "9")
            (raw / "a.att").write_bytes(b"x" * 100)
            (_made(raw / "ui_output_agent_1_dispatch_4") / "code.json").write_bytes(b"y" * 10)
            (_made(raw / "ui_output_agent_1_dispatch_5") / "code.json").write_bytes(b"z")
        (place / "result").symlink_to("attempts/2")
        dispatches = [{"dispatch": 4, "is_placeholder": True}, {"dispatch": 5, "is_placeholder": False}]
        (place / "attempts" / "2" / "judgement.json").write_text(json.dumps({"dispatches": dispatches}))
        (place / "job.json").write_text("{}")
        manifest = Manifest(place)
        manifest.append(name, "started", attempt=2)
        if name == "done":
            manifest.append(name, "finished", attempt=2, verdict="good")
    parts = removable(tmp_path)
    where = {str(part.path.relative_to(tmp_path / "jobs")): part.size_bytes for part in parts}
    manifest_bytes = Manifest(job_folder(tmp_path, "dropped")).path.stat().st_size
    judgement_bytes = (job_folder(tmp_path, "dropped") / "attempts/2/judgement.json").stat().st_size
    assert where == {
        "done/attempts/1/raw": 111,
        "done/attempts/2/raw/9/ui_output_agent_1_dispatch_4": 10,
        "dropped": 222 + len("{}") + manifest_bytes + judgement_bytes,
    }
    remove(parts)
    assert removable(tmp_path) == ()
    assert (job_folder(tmp_path, "done") / "result/raw/9/ui_output_agent_1_dispatch_5/code.json").exists()
    assert (job_folder(tmp_path, "begun") / "attempts/1/raw/9/a.att").exists()


def test_nothing_outside_or_of_others_can_go(tmp_path: Path) -> None:
    pool, outside = tmp_path / "pool", tmp_path / "outside"
    prepare(pool, [job("done")], is_resumed=True)
    for name in ("photos", "attempts/1/raw"):
        (_made(outside / name) / "mine").write_text("precious")
    _made(pool / "jobs" / "own notes")  # not a job that is no longer planned
    (pool / "jobs" / "linked").symlink_to(outside)
    place = _made(job_folder(pool, "done"))
    (place / "job.json").write_text("{}")
    (place / "attempts").symlink_to(outside / "attempts")
    _made(place / "result")
    Manifest(place).append("done", "started", attempt=1)
    Manifest(place).append("done", "finished", attempt=1, verdict="good")
    assert removable(pool) == ()
    assert removable(place) == ()
    (pool / "jobs").rename(tmp_path / "jobs")
    (pool / "jobs").symlink_to(outside)
    assert removable(pool) == ()
    with pytest.raises(UsageError, match="a link that wavewright did not make"):
        prepare(pool, [job("done")], is_resumed=True)
    part = Removable(root=pool, path=pool / "jobs" / "photos", size_bytes=8, reason="found before the link was made")
    with pytest.raises(OutputError):
        remove((part,))
    assert sorted(file.name for file in outside.rglob("mine")) == ["mine", "mine"]
