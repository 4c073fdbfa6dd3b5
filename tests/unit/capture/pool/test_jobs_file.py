"""Jobs files: what is understood, and everything else refused with a sentence."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wavewright.capture.kinds import KINDS, Counters, Discovery, RunTrace, Samples, ThreadTraces
from wavewright.capture.machines.runner import Limits
from wavewright.capture.plans.counter_passes import passes_for
from wavewright.capture.pool.jobs_file import PoolJob, jobs_of, read_jobs_file
from wavewright.capture.pool.keys import KEYS
from wavewright.errors import UsageError, WavewrightError

FULL = """
[defaults]
kind = "att"
program = "python bench.py --size '1 2'"
seconds = 600
env = { A = "1", B = "2" }
launches = "7-8"

[[job]]
name = "decode"
kernel = "pa_decode"
buffer = "256 MiB"
se_mask = 0x11
env = { B = "3" }

[[job]]
name = "waves"
kind = "counters"
passes = [["SQ_WAVES", "GRBM_COUNT"], ["TCC_HIT_sum"]]
cwd = "sub"

[[job]]
name = "sampled"
kind = "samples"
method = "stochastic"

[[job]]
name = "whole"
kind = "run"
parts = ["kernel"]
expected_seconds = 5

[[job]]
kind = "discover"
program = ["./a.out"]
"""


def read(tmp_path: Path, text: str | bytes) -> tuple[PoolJob, ...]:
    path = tmp_path / "JOBS.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_jobs_file(path)


def test_every_kind(tmp_path: Path) -> None:
    jobs = {job.name: job for job in read(tmp_path, FULL)}
    program = ("python", "bench.py", "--size", "1 2")
    here, shared = str(tmp_path), {"A": "1", "B": "2"}
    assert jobs["decode"].job.recording == ThreadTraces(
        program=program,
        variables={"A": "1", "B": "3"},
        cwd=here,
        launches=(7, 8),
        se_mask=0x11,
        buffer_bytes=256 << 20,
        kernel="pa_decode",
    )
    assert jobs["decode"].job.limits == Limits(seconds=600)
    assert jobs["waves"].job.recording == Counters(
        program=program,
        variables=shared,
        cwd=f"{here}/sub",
        launches=(7, 8),
        passes=(("SQ_WAVES", "GRBM_COUNT"), ("TCC_HIT_sum",)),
    )
    assert jobs["sampled"].job.recording == Samples(program=program, variables=shared, cwd=here, method="stochastic")
    assert jobs["whole"].job.recording == RunTrace(program=program, variables=shared, cwd=here, parts=("kernel",))
    assert jobs["a.out-5"].job.recording == Discovery(program=("./a.out",), variables=shared, cwd=here)
    assert jobs["whole"].expected_seconds == 5


def test_ids_are_of_the_content(tmp_path: Path) -> None:
    first = {job.name: job.id for job in read(tmp_path, FULL)}
    assert first == {job.name: job.id for job in read(tmp_path, FULL.replace("seconds = 600", "seconds = 60"))}
    changed = {job.name: job.id for job in read(tmp_path, FULL.replace('kernel = "pa_decode"', 'kernel = "pa"'))}
    assert {name for name in first if first[name] != changed[name]} == {"decode"}
    assert len(set(first.values())) == len(first)
    assert all(len(each) == 16 and set(each) <= set("0123456789abcdef") for each in first.values())


def test_counters_by_panel_metric_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "[[job]]\nkind = 'counters'\nprogram = 'a'\n"
    (job,) = read(tmp_path, head + "target = 'MI300X'\npanels = ['l2']\npmc = ['SQ_WAVES']\n")
    assert isinstance(job.job.recording, Counters)
    expected = passes_for("gfx942", panels=["l2"], counters=["SQ_WAVES"])
    assert (job.job.recording.passes, job.job.recording.definitions) == (expected.passes, expected.definitions)
    (tmp_path / "nodes").mkdir()
    monkeypatch.setenv("ROCPROFILER_KFD_TOPOLOGY", str(tmp_path / "nodes"))
    with pytest.raises(UsageError, match="for which GPU"):
        read(tmp_path, head)
    node = tmp_path / "nodes" / "0"
    node.mkdir()
    (node / "properties").write_text("simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\n")
    (usual,) = read(tmp_path, head)
    assert isinstance(usual.job.recording, Counters)
    assert usual.job.recording.passes == passes_for("gfx942").passes


JOB = '[[job]]\nkind = "run"\nprogram = "a"\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"no \[\[job\]\]"),
        ("[defaults]", r"no \[\[job\]\]"),
        ("job = 3", "not a list of tables"),
        ("job = [3]", "not a list of tables"),
        ("defaults = 3\n" + JOB, "not a table"),
        ("[[jobs]]\n", "no table `jobs`; did you mean `job`"),
        ("[default]\n" + JOB, "did you mean `defaults`"),
        ("[[job", "not TOML"),
        ("a = " + "[" * 5000, "not TOML"),
        ("[[job]]\nkind = 'run'\nkind = 'run'", "not TOML"),
        (JOB + "progam = 'x'", "job 1: there is no key `progam`; did you mean `program`"),
        (JOB + "timeout = 3", "there is no key `timeout`"),
        ("[defaults]\nname = 'x'\n" + JOB, r"\[defaults\]: there is no key `name`; `name` belongs into a \[\[job\]\]"),
        ("[[job]]\nprogram = 'a'", "no `kind`; choose of discover"),
        ("[[job]]\nkind = 'att'", "no `program`"),
        ("[[job]]\nkind = 'att'\nprogram = []", "`program` is"),
        ("[[job]]\nkind = 'att'\nprogram = ''", "`program` is"),
        ("[[job]]\nkind = 'att'\nprogram = ['']", "no name"),
        ("[[job]]\nkind = 'att'\nprogram = [1]", "`program` is"),
        ("[[job]]\nkind = 'att'\nprogram = \"a 'b\"", "No closing quotation"),
        ("[[job]]\nkind = 'att'\nprogram = \"a\\u0000b\"", "NUL"),
        ("[[job]]\nkind = 'trace'\nprogram = 'a'", "it may be discover or att or counters"),
        (JOB + "kernel = 'x'", "`kernel` is not for jobs of the kind run; it is for att and counters"),
        (JOB + "seconds = -1", "`seconds` is -1"),
        (JOB + "seconds = nan", "`seconds` is nan"),
        (JOB + "seconds = inf", "`seconds` is inf"),
        (JOB + "seconds = true", "`seconds` is True"),
        (JOB + "attempts = 0", "from 1 to 100"),
        (JOB + "attempts = 1.5", "from 1 to 100"),
        (JOB + "env = { A = 1 }", "a table of names and texts"),
        (JOB + "env = { 'A=B' = '1' }", "cannot be the name"),
        (JOB + "env = ['A']", "a table"),
        (JOB + "disk = '3 QB'", "a number of bytes"),
        (JOB + "disk = 0", "a number of bytes"),
        (JOB + "name = ''", "a printable line"),
        (JOB + 'name = "a\\nb"', "a printable line"),
        (JOB + f"name = '{'x' * 300}'", "a printable line"),
        (JOB + "name = 'a'\n" + JOB + "name = 'a'", "job 2.*two jobs are called 'a'"),
        ("[[job]]\nkind = 'att'\nprogram = 'a'\nkernel = 'x'\nregex = 'y'", "both `kernel` and `regex`"),
        ("[[job]]\nkind = 'att'\nprogram = 'a'\nlaunches = '8-7'", "`launches` is"),
        ("[[job]]\nkind = 'att'\nprogram = 'a'\nlaunches = [0]", "numbers from 1 on"),
        ("[[job]]\nkind = 'att'\nprogram = 'a'\nlaunches = '1-999999999'", "`launches` is"),
        ("[[job]]\nkind = 'att'\nprogram = 'a'\nse_mask = 0", "`se_mask` is 0"),
        ("[[job]]\nkind = 'counters'\nprogram = 'a'\ntarget = 'gfx1'", "job 1: .*gfx1"),
        ("[[job]]\nkind = 'counters'\nprogram = 'a'\ntarget = 'gfx942'\npanels = ['l3']", "job 1: .*l3"),
        ("[[job]]\nkind = 'counters'\nprogram = 'a'\ntarget = 'gfx942'\npmc = ['SQ_WAVE']", "job 1: .*SQ_WAVE"),
        ("[[job]]\nkind = 'counters'\nprogram = 'a'\npasses = [['A']]\npmc = 'A'", "both `passes` and `pmc`"),
        ("[[job]]\nkind = 'counters'\nprogram = 'a'\npasses = ['A']", "a list of lists"),
    ],
)
def test_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as refusal:
        read(tmp_path, text)
    assert str(refusal.value).startswith(str(tmp_path / "JOBS.toml"))
    assert str(refusal.value).isprintable()


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_jobs_file(tmp_path / "nothing")
    with pytest.raises(UsageError, match="cannot be read"):
        read_jobs_file(tmp_path)
    with pytest.raises(UsageError, match="byte 4 is not UTF-8"):
        read(tmp_path, b"a = \xff")
    assert len(read(tmp_path, b"\xef\xbb\xbf" + JOB.encode())) == 1


@pytest.mark.slow
def test_ten_thousand_jobs(tmp_path: Path) -> None:
    chain = "".join(f"{JOB}name = 'j{n}'\n" for n in range(10_000))
    begin = time.process_time()
    jobs = read(tmp_path, chain)
    assert [job.name for job in jobs] == [f"j{n}" for n in range(10_000)]
    assert time.process_time() - begin < 10
    with pytest.raises(UsageError, match=r"100,001 jobs"):
        jobs_of({"job": [{}] * 100_001}, where="x", folder="/")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
TABLES = st.dictionaries(st.sampled_from([*KEYS, "unknown"]), VALUES | st.sampled_from(list(KINDS)), max_size=6)


@example(job={}, defaults={"env": {"\x1f": None}})
@given(job=TABLES, defaults=TABLES)
def test_anything_gives_jobs_or_a_sentence(job: dict[str, object], defaults: dict[str, object]) -> None:
    try:
        jobs = jobs_of({"job": [job], "defaults": defaults}, where="x", folder="/")
    except WavewrightError as error:
        assert str(error).isprintable()
    else:
        assert len(jobs) == 1
