"""An input file explained: what each of its jobs really does in a release, and what to change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.capture.inputs.findings import Finding, Level, job_findings
from wavewright.capture.inputs.reading import Reader, Reading, Refusal, Run, jobs_of, reader_of, reading_of
from wavewright.capture.inputs.wanted import wanted_of
from wavewright.capture.rocprofv3.releases import has_trap
from wavewright.capture.wanted import Counters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wavewright.capture.inputs.files import InputFile
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.wanted import Wanted

#: Lines of the text files of rocprof, the predecessor, which rocprofv3 does not read.
_OF_ROCPROF = ("gpu:", "range:", "kernel:", "pmc :", "metrics:")
_NAMED_LINES = 3


@dataclass(frozen=True, kw_only=True)
class ExplainedJob:
    """One job, and what a release does with it."""

    number: int  #: From 1.
    keys: dict[str, Any] = field(hash=False)  #: As they are written.
    is_run: bool
    folder: str  #: Where its output would be; empty = it is not run.
    variables: dict[str, str] = field(hash=False)  #: What rocprofv3 hands to the program; empty = it is not run.
    findings: tuple[Finding, ...]
    wanted: tuple[Wanted, ...]  #: What its author wants; empty = nothing that can be run.

    @property
    def is_as_meant(self) -> bool:
        """Whether it is run, and nothing speaks against it."""
        return self.is_run and not any(finding.level is Level.ERROR for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a release does with a file."""

    name: str
    form: str  #: txt, yaml or json.
    release: str  #: As 7.2.
    jobs: tuple[ExplainedJob, ...]
    findings: tuple[Finding, ...]  #: About the file as a whole.
    is_refused: bool  #: Whether rocprofv3 stops with an error, perhaps after some of the jobs.

    @property
    def summary(self) -> str:
        """One sentence."""
        run = sum(job.is_run for job in self.jobs)
        outcome = "stops with an error" if self.is_refused else "ends with status 0"
        jobs = counted(len(self.jobs), "jobs")
        runs = (
            "none of them is run"
            if not run
            else "all are run"
            if run == len(self.jobs)
            else f"{run:,} {'is' if run == 1 else 'are'} run"
        )
        if len(self.jobs) == 1:
            runs = "it is run" if run else "it is not run"
        errors = sum(not job.is_as_meant for job in self.jobs if job.is_run)
        otherwise = (
            f", {errors:,} not as meant" if errors and len(self.jobs) > 1 else ", but not as meant" if errors else ""
        )
        return f"ROCm {self.release}: {jobs}, {runs}{otherwise}; rocprofv3 {outcome}"


def explain(
    file: InputFile,
    installation: Installation,
    *,
    program: tuple[str, ...] = (),
    cwd: str = ".",
    contents: Callable[[str], str | None] = lambda _: None,
    target: str = "",
) -> Explanation:
    """What a release does with each job of a file.

    Parameters
    ----------
    file
        What `read_input` gives.
    installation
        A found or an assumed one.
    program
        What will be run, for the wishes of the jobs.
    cwd
        The folder in which rocprofv3 is started: output goes there, and paths in the file count from there.
    contents
        The text of a file with definitions of counters; None = it cannot be read.
    target
        The GPU, as gfx942: lists of counters are compared with its registers. Empty = not known.

    Examples
    --------
    >>> from wavewright.capture.inputs.files import input_of
    >>> from wavewright.capture.rocprofv3.releases import assumed
    >>> text = b'jobs: [{advanced_thread_trace: true, kernel_iteration_range: "[1, [3-4]]"}]'
    >>> explain(input_of(text, "input.yaml"), assumed("7.2")).jobs[0].findings[0].sentence
    'launches 1, 3 and 4 of each kernel are traced: the first is the coldest'
    """
    reader = reader_of(installation)
    reading = reading_of(file, reader, cwd=cwd, contents=contents)
    try:
        jobs = jobs_of(file, reader) if not reader.is_first else _first_jobs(file, reading)
    except Refusal:
        jobs = []
    runs = {run.job: run for run in reading.runs}
    return Explanation(
        name=file.name,
        form=file.form,
        release=installation.rocm_version or ".".join(map(str, reader.version)),
        jobs=tuple(
            _with_limits(_explained(at, job, reading, runs, reader, program, contents), target)
            for at, job in enumerate(jobs, 1)
        ),
        findings=tuple(_of_file(file, reader, reading)),
        is_refused=reading.refusal is not None,
    )


def _first_jobs(file: InputFile, reading: Reading) -> list[dict[Any, Any]]:
    """Of ROCm 6.2: the passes that it makes, else the jobs that it does not read."""
    if reading.runs and reading.runs[0].job is not None:
        return [{"pmc": run.variables["ROCPROF_COUNTERS"].removeprefix("pmc: ").split(" ")} for run in reading.runs]
    jobs = file.content.get("jobs") if isinstance(file.content, dict) else None
    return [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []


def _explained(
    at: int,
    job: dict[Any, Any],
    reading: Reading,
    runs: Mapping[int | None, Run],
    reader: Reader,
    program: tuple[str, ...],
    contents: Callable[[str], str | None],
) -> ExplainedJob:
    run = runs.get(at)
    refusal = reading.refusal if reading.refusal is not None and reading.refusal.job == at else None
    findings = [] if reader.is_first else job_findings(job, reader)
    if run is None:
        findings = [each for each in findings if each.key or each.level is not Level.ERROR]
    if refusal is not None:
        first = Finding(
            level=Level.ERROR,
            key=refusal.key,
            sentence=f"rocprofv3 stops here with an error: {refusal.why}",
            remedy=refusal.remedy,
        )
        findings = [first, *(each for each in findings if (each.key, each.level) != (refusal.key, Level.ERROR))]
    elif run is None and at in reading.dropped:
        sentence = (
            "this job is left out without a word: from ROCm 7.13 on only jobs with pmc are run where there are several"
        )
        remedy = "put it into a file of its own; `wavewright capture -i` runs each job by itself"
        findings.insert(0, Finding(level=Level.ERROR, key="pmc", sentence=sentence, remedy=remedy))
    elif run is None and at in reading.echoed:
        sentence = "echo prints the command, and the program is not run"
        findings.insert(0, Finding(level=Level.ERROR, key="echo", sentence=sentence, remedy="leave echo away"))
    elif run is None:
        sentence = "this job is not run, as rocprofv3 stops before it"
        findings.insert(0, Finding(level=Level.ERROR, key="", sentence=sentence))
    else:
        findings.append(Finding(level=Level.NOTE, key="output_directory", sentence=_place(job, run.folder, reader)))
    keys = {str(key): value for key, value in job.items() if key != "sub_directory"}
    return ExplainedJob(
        number=at,
        keys=keys,
        is_run=run is not None,
        folder=run.folder if run else "",
        variables=run.variables if run else {},
        findings=tuple(findings),
        wanted=wanted_of(job, program, contents),
    )


def _with_limits(job: ExplainedJob, target: str) -> ExplainedJob:
    """The same, with a finding where one list has more counters of a block than a target can count at once."""
    if not target:
        return job
    from wavewright.capture.plans.counter_passes import blocks_beyond

    passes = [names for wanted in job.wanted if isinstance(wanted, Counters) for names in wanted.passes]
    beyond = [text for names in passes for text in blocks_beyond(names, target)]
    if not beyond:
        return job
    sentence = f"{beyond[0]} at once, and nothing is split: the tool ends the program in its first dispatch"
    remedy = "`wavewright counters --plan` and `wavewright capture counters` make passes that fit"
    finding = Finding(level=Level.ERROR, key="pmc", sentence=sentence, remedy=remedy)
    return replace(job, findings=(finding, *job.findings))


def _place(job: dict[Any, Any], folder: str, reader: Reader) -> str:
    prefix = job.get("output_file")
    names = f"{folder}/{prefix}_..." if isinstance(prefix, str) and prefix else f"{folder}/HOST/PID_..."
    formats = job.get("output_format")
    written = ", ".join(map(str, formats)) if isinstance(formats, list) and formats else reader.default_format
    sentence = f"output is {names}, as {written}"
    if job.get("advanced_thread_trace") and reader.knows("advanced_thread_trace"):
        sentence += f"; decoded thread traces are {folder}/ui_output_agent_..., whatever output_file says"
    return sentence


def _of_file(file: InputFile, reader: Reader, reading: Reading) -> list[Finding]:
    findings = []
    refusal = reading.refusal
    if refusal is not None and refusal.job is None:
        sentence = f"rocprofv3 refuses the file: {refusal.why}"
        findings.append(Finding(level=Level.ERROR, key=refusal.key, sentence=sentence, remedy=refusal.remedy))
    if reading.runs and reading.runs[0].job is None:
        sentence = "no counters are found in it; the program is run without them"
        findings.append(Finding(level=Level.ERROR, key="", sentence=sentence))
    if not reading.runs and refusal is None and not reading.echoed:
        sentence = "nothing is run, and rocprofv3 ends with status 0"
        findings.append(
            Finding(level=Level.ERROR, key="jobs", sentence=sentence, remedy="put each job into a file of its own")
        )
    if file.form == "txt":
        findings += _of_text(file, reader)
    elif isinstance(file.content, dict):
        read = "metrics" if reader.is_first else "jobs"
        for key in file.content:
            if key == read or (key in ("metrics", "jobs") and read in file.content):
                continue
            sentence = f"{str(key)[:60]} does nothing: beside `{read}` nothing is read"
            remedy = "write it into each job" if key not in ("jobs", "metrics") else f"call it {read}"
            # Other names may stand for what aliases of YAML refer to.
            is_meant = key in ("jobs", "metrics", "GlobalParameters") or reader.knows(str(key))
            level = Level.ERROR if is_meant else Level.WARNING
            findings.append(Finding(level=level, key=str(key)[:60], sentence=sentence, remedy=remedy))
    for key in dict.fromkeys(file.repeated):
        sentence = f"{key[:60]} is given twice in one place: the last one counts"
        findings.append(Finding(level=Level.ERROR, key=key[:60], sentence=sentence, remedy="leave one away"))
    if reader.is_first and file.form != "txt" and refusal is None:
        sentence = "ROCm 6.2 reads nothing but pmc of each entry; the other keys do nothing"
        findings.append(Finding(level=Level.NOTE, key="metrics", sentence=sentence, remedy="give them as options"))
    if file.form == "yaml":
        sentence = "YAML needs the package PyYAML in the Python that runs rocprofv3"
        findings.append(Finding(level=Level.NOTE, key="", sentence=sentence, remedy="JSON needs nothing"))
    return findings


def _of_text(file: InputFile, reader: Reader) -> list[Finding]:
    findings = []
    hidden = [line for line in file.content if "pmc:" in line and "pmc:" not in line.split("#", 1)[0]]
    if hidden and not reader.has_groups and not reader.is_first:
        sentence = f"{counted(len(hidden), 'lines')} with pmc: behind a # is taken for a pass without counters"
        findings.append(Finding(level=Level.ERROR, key="pmc", sentence=sentence, remedy="remove such lines"))
    other = [line.strip()[:40] for line in file.content if line.strip().lower().startswith(_OF_ROCPROF)]
    if other:
        sentence = f"lines of the older rocprof do nothing: {'; '.join(other[:_NAMED_LINES])}"
        remedy = "choose kernels and launches by options: --kernel-include-regex, --kernel-iteration-range"
        findings.append(Finding(level=Level.ERROR, key="", sentence=sentence, remedy=remedy))
    if any("," in line for line in file.content if "pmc:" in line.split("#", 1)[0]):
        sentence = "counters are divided by spaces here; the script leaves commas in the names"
        findings.append(Finding(level=Level.WARNING, key="pmc", sentence=sentence, remedy="write spaces"))
    if has_trap(reader.version, "text input deprecated"):
        sentence = "text files are called deprecated from ROCm 7.13 on, with a long warning"
        findings.append(Finding(level=Level.WARNING, key="", sentence=sentence, remedy="write JSON or YAML"))
    return findings
