"""A jobs file (TOML): `[defaults]`, and a `[[job]]` for each job. What is not understood is refused.

The id of a job is a hash of its content: a changed job is a new one, and an unchanged one keeps its data.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from wavewright.base.toml import read_toml
from wavewright.base.words import shortened
from wavewright.capture.gpus.topology import gpus_of
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.plan import Plan
from wavewright.capture.kinds import KINDS
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Limits
from wavewright.capture.plans.counter_passes import Passes, passes_for
from wavewright.capture.pool.keys import KEYS, WrongValueError
from wavewright.errors import UsageError

JOBS_MAX = 100_000
_FILE_BYTES_MAX = 64 << 20
_TABLES = ("defaults", "job")
_START = "start each job with [[job]]"


class PoolJob(Struct, frozen=True, kw_only=True):
    """One job of a jobs file."""

    id: str  #: That of the job.
    job: Job
    expected_seconds: float | None = None  #: None = not known.
    disk_bytes: int = 10**9  #: Free space that it needs to start.

    @property
    def name(self) -> str:
        """The name for people."""
        return self.job.name


def read_jobs_file(path: str | os.PathLike[str]) -> tuple[PoolJob, ...]:
    """The jobs of a file, in its order."""
    advice = "wavewright capture pool --help shows a jobs file"
    document = read_toml(path, advice=advice, bytes_max=_FILE_BYTES_MAX)
    return jobs_of(document, where=os.fspath(path), folder=str(Path(path).absolute().parent))


def pool_jobs(jobs: Iterable[PoolJob | Job | Plan]) -> tuple[PoolJob, ...]:
    """Jobs and plans of Python as jobs of a pool; those that share a name get a number."""
    ready: dict[str, PoolJob] = {}
    names: Counter[str] = Counter()
    for given in jobs:
        if isinstance(given, PoolJob):
            ready_job = given
        else:
            job = given if isinstance(given, Job) else given.job
            name = job.name or Path(job.recording.program[0]).name
            names[name] += 1
            name = name if names[name] == 1 else f"{name}-{names[name]}"
            recording = structs.replace(job.recording, cwd=str(Path(job.recording.cwd).absolute()))
            job = structs.replace(job, name=name, recording=recording, gpu="auto")
            ready_job = PoolJob(id=job.id, job=job)
        if ready_job.id in ready:
            raise UsageError(f"the job {ready_job.name!a} is there twice", advice="give each job a name of its own")
        ready[ready_job.id] = ready_job
    return tuple(ready.values())


def jobs_of(document: Mapping[str, Any], *, where: str, folder: str) -> tuple[PoolJob, ...]:
    """The jobs of a parsed file; relative folders of programs are below `folder`."""
    _refuse_others(document, _TABLES, where, "table")
    tables, defaults = document.get("job", []), document.get("defaults", {})
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError("`job` is not a list of tables", where=where, advice=_START)
    if not tables:
        raise UsageError("there is no [[job]] in the file", where=where, advice=_START)
    if len(tables) > JOBS_MAX:
        raise UsageError(f"{len(tables):,} jobs", where=where, advice=f"a file holds {JOBS_MAX:,} at most; split it")
    if not isinstance(defaults, dict):
        raise UsageError("`defaults` is not a table", where=where, advice="start it with [defaults]")
    common = [key.name for key in KEYS.values() if key.is_for_defaults]
    shared = _values(defaults, common, f"{where}: [defaults]")
    jobs: dict[str, PoolJob] = {}
    for number, table in enumerate(tables, start=1):
        place = f"{where}: job {number}"
        if isinstance(table.get("name"), str):
            place += f" ({shortened(ascii(table['name']), 60)})"
        values = _job_values(table, shared, place, folder)
        name = values.setdefault("name", f"{Path(values['program'][0]).name}-{number}")
        if name in jobs:
            raise UsageError(f"two jobs are called {name!a}", where=place, advice="give each job its own name")
        jobs[name] = _pool_job(values)
    return tuple(jobs.values())


def _job_values(table: Mapping[str, Any], shared: Mapping[str, Any], place: str, folder: str) -> dict[str, Any]:
    """The values of a job with the defaults, checked as far as one job can be by itself."""
    values = _values(table, KEYS, place)
    kind = values.get("kind", shared.get("kind"))
    if kind is None:
        raise UsageError("the job has no `kind`", where=place, advice=f"choose of {', '.join(KINDS)}")
    for key in values:
        if kind not in KEYS[key].kinds:
            what = f"`{key}` is not for jobs of the kind {kind}"
            raise UsageError(what, where=place, advice=f"it is for {' and '.join(KEYS[key].kinds)}")
    merged = {key: value for key, value in shared.items() if kind in KEYS[key].kinds} | values
    if {"kernel", "regex"} <= merged.keys():
        if {"kernel", "regex"} <= values.keys() or not {"kernel", "regex"} & values.keys():
            raise UsageError("both `kernel` and `regex` are given", where=place, advice="give one of them")
        merged.pop("regex" if "kernel" in values else "kernel")
    if "env" in shared and "env" in values:
        merged["env"] = shared["env"] | values["env"]
    if "program" not in merged:
        raise UsageError("the job has no `program`", where=place, advice='add one: program = ["python", "bench.py"]')
    if kind == "counters":
        merged |= _passes(merged, place)
    if not merged["program"][0].strip():
        raise UsageError("the program has no name", where=place, advice='give it: program = ["python", "bench.py"]')
    merged["cwd"] = os.path.normpath(Path(folder, merged.get("cwd", "")))
    return merged


def _passes(values: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Passes, and definitions for them, from panels, metrics and names of counters."""
    counted = [key for key in ("panels", "metrics", "pmc") if values.get(key)]
    if "passes" in values:
        if counted:
            what = f"both `passes` and `{counted[0]}` say what is counted"
            raise UsageError(what, where=place, advice="give one of them")
        return {}
    target = values.get("target") or next((gpu.target for gpu in gpus_of(Machine())), "")
    if not target:
        what = "for which GPU are the passes? None is found here"
        raise UsageError(what, where=place, advice='name it: target = "MI300X"; or give the `passes`')
    try:
        planned = _planned(target, *(values.get(key, ()) for key in ("panels", "metrics", "pmc")))
    except UsageError as error:
        raise UsageError(error.what, where=place, advice=error.advice) from error
    return {"passes": planned.passes, "definitions": planned.definitions}


@lru_cache(maxsize=256)
def _planned(target: str, panels: tuple[str, ...], metrics: tuple[str, ...], counters: tuple[str, ...]) -> Passes:
    return passes_for(target, panels=panels, metrics=metrics, counters=counters)


def _values(table: Mapping[str, Any], names: Iterable[str], place: str) -> dict[str, Any]:
    _refuse_others(table, names, place, "key")
    values = {}
    for key, value in table.items():
        try:
            values[key] = KEYS[key].read(value)
        except WrongValueError as error:
            what = f"`{key}` is {shortened(ascii(value), 60)}"
            raise UsageError(what, where=place, advice=f"it may be {error}") from error
    return values


def _refuse_others(table: Mapping[str, Any], names: Iterable[str], place: str, what: str) -> None:
    names = list(names)
    for name in table:
        if name not in names:
            near = get_close_matches(name[:100], names, n=1, cutoff=0.6)
            advice = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(names)}"
            if what == "key" and not near and name in KEYS:
                advice = f"`{name}` belongs into a [[job]]"
            raise UsageError(f"there is no {what} `{shortened(ascii(name)[1:-1], 60)}`", where=place, advice=advice)


def _pool_job(values: Mapping[str, Any]) -> PoolJob:
    named = {KEYS[key].field or key if key in KEYS else key: value for key, value in values.items()}

    def of(names: Iterable[str]) -> dict[str, Any]:
        return {name: named[name] for name in names if name in named}

    kind = KINDS[values["kind"]]
    limits = Limits(**of(field.name for field in fields(Limits)))
    job = Job(recording=kind(**of(kind.__struct_fields__)), limits=limits, **of(("name", "attempts")))
    return PoolJob(id=job.id, job=job, **of(("expected_seconds", "disk_bytes")))
