"""A plan of passes as input of rocprofv3: jobs in JSON or YAML, lines of text for old releases; and what goes with it.

rocprofv3 tells the form of an input by its extension, runs the program once per job or line, and writes each pass into
a folder of its own. Level counters added up over time and single L2 channels have no names there: a second file defines
them (`-E`). What may be written depends on the release: text is called deprecated from ROCm 7.13 on, 6.2 reads other
keys, and from 10.0 on csv is called deprecated, so that the database is asked for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import command_line
from wavewright.capture.plans.counter_passes import definitions, pass_names, remarks, some_of, summary
from wavewright.capture.rocprofv3.option import is_within, version_of
from wavewright.capture.rocprofv3.regex import parts_regex
from wavewright.capture.rocprofv3.releases import assumed, release_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.analysis.counters.plan import CapturePlan

FORMS = ("json", "yaml", "txt")
FORM = "json"  #: Which every release reads and none warns about, and which needs no package.
_WORDS_MAX = 2000  #: Letters of a command line that people still copy.
#: Extension -> form. rocprofv3 reads .text from 7.13 on only.
SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".txt": "txt"}
TEXT_LAST = "7.12"  #: Last release whose script does not call text files deprecated.


def form_of(path: Path) -> str:
    """The form of a file by its extension.

    Raises
    ------
    UsageError
        When rocprofv3 would not know it.
    """
    form = SUFFIXES.get(path.suffix)
    if form is None:
        what = "rocprofv3 knows the form of an input by its extension"
        raise UsageError(what, where=str(path), advice=f"let it end in {', '.join(SUFFIXES)}")
    return form


def jobs_text(
    jobs: Sequence[Mapping[str, Any]], form: str, *, comments: Sequence[str] = (), is_for_6_2: bool = False
) -> str:
    """Jobs as the text of a file; `comments` where the form has them. `is_for_6_2`: readable by ROCm 6.2 as well.

    Raises
    ------
    UsageError
        When a text file is to hold more than counters, or several jobs would not be run by every release.

    Examples
    --------
    >>> print(jobs_text([{"pmc": ["SQ_WAVES"]}], "yaml", comments=["one pass"]), end="")
    # one pass
    jobs:
      - pmc: ["SQ_WAVES"]
    """
    if len(jobs) > 1 and not all(job.get("pmc") for job in jobs):
        what = "of several jobs in one file, ROCm 7.13 and newer run only those with counters"
        raise UsageError(what, advice="write one file per job")
    metrics = [{"pmc": job["pmc"]} for job in jobs if job.get("pmc")] if is_for_6_2 else []
    remarks = [f"# {line}" for comment in comments for line in comment.splitlines()]
    if form == "txt":
        if any(set(job) != {"pmc"} for job in jobs):
            what = "a text file holds nothing but counters"
            raise UsageError(what, advice="write .json or .yaml; or give the rest as options of rocprofv3")
        return "\n".join([*remarks, *(f"pmc: {' '.join(job['pmc'])}" for job in jobs), ""])
    if form == "json":
        return json.dumps({**({"metrics": metrics} if metrics else {}), "jobs": list(jobs)}, indent=2) + "\n"
    lines = [*remarks]
    if metrics:
        lines += ["# for ROCm 6.2, which does not read jobs", "metrics:", *_yaml_lines(metrics)]
    return "\n".join([*lines, "jobs:" if jobs else "jobs: []", *_yaml_lines(jobs), ""])


def _yaml_lines(jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    """JSON is YAML, so that values are written as JSON: no text can be taken for a number, a date or a truth value."""
    lines = []
    for job in jobs:
        for place, (key, value) in enumerate(job.items()):
            lines.append(f"  {'-' if place == 0 else ' '} {key}: {json.dumps(value)}")
    return lines


def input_text(
    plan: CapturePlan, form: str = FORM, *, kernels: Sequence[str] = (), name: str = "", rocm: str = ""
) -> str:
    """The input file in one of FORMS, with comments where the form has them; `kernels` are parts of names.

    `rocm` is the release that will read it; empty = any.
    """
    passes = pass_names(plan)
    if form == "txt":
        # Each pass has its comment, so that the lines are put together here; jobs_text checks and writes them.
        lines = [*_comments(plan, form, kernels, name, rocm)]
        for number, names in passes.items():
            lines += ["", f"# {_about(plan, number)}", jobs_text([{"pmc": names}], "txt").strip()]
        return "\n".join([*(lines if not lines or lines[0] else lines[1:]), ""])
    jobs = [_job(names, kernels) for names in passes.values()]
    return jobs_text(
        jobs, form, comments=_comments(plan, form, kernels, name, rocm), is_for_6_2=_is_for_6_2(rocm) and not kernels
    )


def _is_for_6_2(rocm: str) -> bool:
    return bool(rocm) and not is_within(version_of(rocm), "6.3")


def commands(
    plan: CapturePlan, form: str = FORM, *, kernels: Sequence[str] = (), name: str = "", rocm: str = ""
) -> tuple[str, str]:
    """How to take the capture, and how to look at it. `name` is the input file."""
    path = Path(name or f"counters.{form}")
    words = ["rocprofv3", "-i", str(path)]
    if definitions(plan):
        words += ["-E", str(_beside(path))]
    if kernels and form == "txt":
        words += ["--kernel-include-regex", parts_regex(kernels)]
    words += ["--output-format", _format(rocm), "-d", "capture", "--", "./program"]
    return command_line(words), "wavewright counters capture"


def command_without_file(plan: CapturePlan, *, kernels: Sequence[str] = (), rocm: str = "") -> str:
    """The same in one command, one --pmc per pass; empty where the release counts only the last, or it is too long."""
    passes = pass_names(plan)
    if not passes or definitions(plan) or (len(passes) > 1 and not is_within(version_of(rocm), "7.13")):
        return ""
    words = ["rocprofv3", *(word for names in passes.values() for word in ("--pmc", *names))]
    if kernels:
        words += ["--kernel-include-regex", parts_regex(kernels)]
    line = command_line([*words, "--output-format", _format(rocm), "-d", "capture", "--", "./program"])
    return line if len(line) <= _WORDS_MAX else ""


def _format(rocm: str) -> str:
    return "rocpd" if rocm and is_within(version_of(rocm), "10.0") else "csv"


def input_files(plan: CapturePlan, path: Path, *, kernels: Sequence[str] = (), rocm: str = "") -> dict[Path, str]:
    """The input file, and beside it the definitions if there are any: path -> text; the extension tells the form.

    Raises
    ------
    UsageError
        When rocprofv3 would not know the extension.
    """
    texts = {path: input_text(plan, form_of(path), kernels=kernels, name=str(path), rocm=rocm)}
    if extra := definitions(plan):
        texts[_beside(path)] = extra
    return texts


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.counters.yaml")


def _job(names: list[str], kernels: Sequence[str]) -> dict[str, Any]:
    job: dict[str, Any] = {"pmc": names}
    return job | ({"kernel_include_regex": parts_regex(kernels)} if kernels else {})


def _about(plan: CapturePlan, number: int) -> str:
    measured = plan.metrics.filter(plan.metrics["pass"].is_not_null())
    level = plan.passes["level"][number - 1]
    ids = measured.filter(measured["pass"] == number)["metric_id"].unique(maintain_order=True).to_list()
    about = f", about {level}" if level else ""
    return f"pass {number}{about}: completes {some_of(ids) or 'no metric by itself'}"


def _comments(plan: CapturePlan, form: str, kernels: Sequence[str], name: str, rocm: str) -> list[str]:
    run, look = commands(plan, form, kernels=kernels, name=name, rocm=rocm)
    lines = [f"{summary(plan)}, as planned by wavewright", f"capture: {run}", f"look:    {look}"]
    lines += [*remarks(plan), *release_remarks(plan, form, rocm)]
    if definitions(plan) and not name:
        path = Path(f"counters.{form}")
        lines.append(
            f"{_beside(path)} defines sums of levels and single channels: `wavewright ... -o {path}` writes both"
        )
    if form == "yaml":
        lines += [_about(plan, number) for number in pass_names(plan)]
    return [f"# {line}" for line in lines] if form == "txt" else lines


def release_remarks(plan: CapturePlan, form: str, rocm: str = "") -> list[str]:
    """What a release does not take of it, or takes with a warning.

    Raises
    ------
    UsageError
        When the release is not known.
    """
    lines = []
    if form == "txt" and (not rocm or not is_within(version_of(rocm), "6.2", TEXT_LAST)):
        lines.append("text files are for ROCm 7.12 and older: AMD calls them deprecated from 7.13 on")
    if rocm:
        options = assumed(rocm).options
        if definitions(plan) and "--extra-counters" not in options:
            lines.append(f"ROCm {release_of(rocm).rocm} cannot define counters: -E came with ROCm 6.4")
        if "--kernel-include-regex" not in options:
            lines.append("ROCm 6.2 filters kernels by --kernel-names only")
    return lines
