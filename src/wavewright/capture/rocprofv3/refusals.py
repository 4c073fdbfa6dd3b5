"""Combinations of options that the script or its tool refuses, or takes without doing what was meant: a declared table.

The script answers with a line or a traceback and status 1; the tool ends the program that is profiled, often after it
ran; some are taken in silence. We refuse all of them before anything runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from wavewright.capture.rocprofv3.grammar import read_launches, read_periods
from wavewright.capture.rocprofv3.option import Kind, Version, is_within
from wavewright.capture.rocprofv3.options import all_options
from wavewright.capture.rocprofv3.regex import check_regex
from wavewright.capture.rocprofv3.words import number_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wavewright.capture.rocprofv3.words import Given

_SUMMARIES = (
    "--stats",
    "--summary",
    "--summary-per-domain",
    "--summary-groups",
    "--summary-output-file",
    "--summary-units",
)
_SAMPLING = ("--pc-sampling-unit", "--pc-sampling-method", "--pc-sampling-interval")
_SPM = ("--spm", "--spm-sample-interval", "--spm-sample-interval-unit")
_ATT = "--advanced-thread-trace"
#: Variables of a rank and of the number of ranks, in the order in which the script looks for them.
RANK_VARIABLES = (
    ("PBS_NODENUM", "PBS_O_TASKNUM"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MPI_RANKID", "MPI_NRANKS"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("MPI_RANK", "MPI_SIZE"),
)
_BUFFER_BYTES_MIN = 1 << 20
_FIELD_MAX = 15
_TRACE_COUNTERS_MAX = 8


@dataclass(frozen=True)
class Request:
    """The options of one command line, as rules ask for them."""

    given: Sequence[Given]
    version: Version
    environment: Mapping[str, str]

    def all(self, name: str) -> list[Given]:
        """Every time that an option is given."""
        return [each for each in self.given if each.option.name == name]

    def on(self, name: str) -> bool:
        """Whether an option has an effect: the last one counts; numbers that are 0 count as not given."""
        each = self.all(name)
        if not each:
            return False
        last = each[-1]
        if last.option.kind is Kind.INTEGER:
            return int(last.values[0]) != 0
        if last.option.kind is Kind.ANY_WORDS and not last.values:
            return name == "--ompt-trace"
        return last.is_on and "".join(last.values) != "" if last.values else last.is_on

    def any(self, names: Sequence[str]) -> bool:
        """Whether one of some options has an effect."""
        return any(self.on(name) for name in names)

    def value(self, name: str) -> str:
        """The value that counts; empty = it is not given."""
        each = self.all(name)
        return each[-1].values[0] if each and each[-1].values else ""

    def number(self, name: str) -> int | None:
        """The same as a number."""
        return number_of(self.value(name)) if self.value(name) else None

    @property
    def traces(self) -> bool:
        """Whether anything is collected that the script counts as such for --stats."""
        is_old = self.version < (7, 0)  # there, only what is traced counts
        for each in self.given:
            option = each.option
            if not option.is_tracing or not self.on(option.name):
                continue
            if is_old and option.name in ("--pmc", _ATT, "--pc-sampling-beta-enabled"):
                continue
            if not option.implies or self._implied(option.name):
                return True
        return False

    def _implied(self, name: str) -> bool:
        """Whether something remains of what an option switches on; from 7.0 on, parts can be taken out by =no."""
        option = all_options()[name]
        if option.variables:
            return True
        parts = [all_options()[part] for part in option.implies if all_options()[part].exists_in(self.version)]
        for part in parts:
            if self.version >= (7, 0) and self.all(part.name) and not self.on(part.name):
                continue
            if not part.implies or self._implied(part.name):
                return True
        return False


class Refusal(NamedTuple):
    """A combination that is refused."""

    name: str  #: For tests and documents.
    by: str  #: Who would refuse: script, tool (ends the program), or nobody (it is taken in silence).
    applies: Callable[[Request], bool]
    what: str
    advice: str
    since: str = "6.2"
    last: str = ""


def _ranks_problem(request: Request) -> bool:
    return bool(request.value("--profile-mpi-ranks")) and _ranks_sentence(request) != ""


def _ranks_sentence(request: Request) -> str:
    """Why a list of ranks is refused; empty = it is not. Outside of MPI the script does not look at it."""
    rank, size = _world(request)
    if rank is None:
        return ""
    ranks: set[int] = set()
    for part in request.value("--profile-mpi-ranks").split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        if not match or int(match[2] or match[1]) < int(match[1]):
            return "not a list of ranks"
        ranks |= {int(match[1]), int(match[2] or match[1])}
    return "out of range" if size is not None and ranks and max(ranks) >= size else ""


def _world(request: Request) -> tuple[int | None, int | None]:
    own_names = (request.value("--mpi-world-rank-variable"), request.value("--mpi-world-size-variable"))
    pairs = [own_names] if all(own_names) else RANK_VARIABLES
    for rank_name, size_name in pairs:
        rank, size = request.environment.get(rank_name), request.environment.get(size_name)
        if rank and rank.isdigit() and ((size and size.isdigit()) or all(own_names)):
            return int(rank), int(size) if size and size.isdigit() else None
    return None, None


def _bad_number(name: str, low: int, high: int | None = None) -> Callable[[Request], bool]:
    def applies(request: Request) -> bool:
        number = request.number(name)
        return request.on(_ATT) and number is not None and (number < low or (high is not None and number > high))

    return applies


#: Order: first what explains others.
REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "summary of nothing",
        "script",
        lambda r: r.any(_SUMMARIES) and not r.traces,
        "a summary is asked for, but nothing that it could sum up",
        "add what to trace, as --kernel-trace",
    ),
    Refusal(
        "several passes",
        "nobody",
        lambda r: len(r.all("--pmc")) > 1,
        "--pmc is given several times, of which this release counts only the last",
        "run it once per pass; ROCm 7.13 is the first that does so by itself",
        "6.3",
        "7.12",
    ),
    Refusal(
        "pass without counters",
        "script",
        lambda r: any(not given.values for given in r.all("--pmc")),
        "--pmc is given without a counter",
        "name at least one counter",
    ),
    Refusal(
        "passes in periods",
        "script",
        lambda r: len(r.all("--pmc")) > 1 and r.on("--collection-period"),
        "several passes and a period of collection do not go together",
        "leave --collection-period away, or take one pass",
    ),
    Refusal(
        "trace counters with pmc",
        "script",
        lambda r: r.on(_ATT) and r.on("--pmc") and r.any(("--att-perfcounters", "--att-perfcounter-ctrl")),
        "counters inside a thread trace and --pmc do not go together",
        "capture them one after the other",
    ),
    Refusal(
        "activity with pmc",
        "script",
        lambda r: r.on(_ATT) and r.on("--pmc") and r.on("--att-activity"),
        "activity inside a thread trace and --pmc do not go together",
        "capture them one after the other",
    ),
    Refusal(
        "activity with trace counters",
        "script",
        lambda r: r.on(_ATT) and r.on("--att-activity") and r.any(("--att-perfcounters", "--att-perfcounter-ctrl")),
        "activity stands for eight counters and their period, and others are given too",
        "leave --att-activity away, or the counters",
    ),
    Refusal(
        "trace counters without a period",
        "tool",
        lambda r: r.on(_ATT) and r.on("--att-perfcounters") != r.on("--att-perfcounter-ctrl"),
        "counters inside a thread trace need names and a period",
        "give both --att-perfcounters and --att-perfcounter-ctrl, or --att-activity",
    ),
    Refusal(
        "too many trace counters",
        "tool",
        lambda r: r.on(_ATT) and len(re.split(r"[\s,]+", r.value("--att-perfcounters"))) > _TRACE_COUNTERS_MAX,
        "more than 8 counters do not fit into a thread trace",
        "capture the others in another run",
    ),
    Refusal(
        "no shader engine",
        "tool",
        lambda r: r.on(_ATT) and r.number("--att-shader-engine-mask") == 0,
        "the mask selects no shader engine",
        "0x1 selects the first",
    ),
    Refusal(
        "buffer below 1 MiB",
        "tool",
        _bad_number("--att-buffer-size", _BUFFER_BYTES_MIN),
        "the buffer of a thread trace is smaller than 1 MiB",
        "256 MiB is 0x10000000",
    ),
    Refusal(
        "no such CU",
        "tool",
        _bad_number("--att-target-cu", 0, _FIELD_MAX),
        "there is no such CU to trace",
        "it may be from 0 to 15",
    ),
    Refusal(
        "no such SIMD",
        "tool",
        _bad_number("--att-simd-select", 0, _FIELD_MAX),
        "there is no such SIMD to trace",
        "gfx9: a mask of 0x1 to 0xF; newer: a number of 0 to 3",
    ),
    Refusal(
        "not a GPU",
        "tool",
        lambda r: r.on("--att-gpu-index") and not re.fullmatch(r"\d+(,\d+)*", r.value("--att-gpu-index")),
        "--att-gpu-index takes numbers of GPUs",
        "write them as 0,2",
    ),
    Refusal(
        "trace of regions",
        "nobody",
        lambda r: r.on(_ATT) and r.on("--selected-regions"),
        "thread traces of selected regions are not possible in this release",
        "ROCm 7.13 is the first that can",
        "7.0",
        "7.12",
    ),
    Refusal(
        "consecutive kernels in regions",
        "script",
        lambda r: r.on("--selected-regions") and bool(r.value("--att-consecutive-kernels")),
        "consecutive kernels and selected regions do not go together",
        "leave --att-consecutive-kernels or --selected-regions away",
    ),
    Refusal(
        "periods in regions",
        "script",
        lambda r: r.on("--selected-regions") and r.on("--collection-period"),
        "a period of collection and selected regions do not go together",
        "leave --collection-period or --selected-regions away",
    ),
    Refusal(
        "serialized device trace",
        "tool",
        lambda r: (
            r.on(_ATT)
            and r.on("--att-serialize-all")
            and (r.number("--att-consecutive-kernels") not in (None, 0) or r.on("--selected-regions"))
        ),
        "kernels cannot be run one by one while consecutive kernels or regions are traced",
        "leave --att-serialize-all away",
    ),
    Refusal(
        "sampling not enabled",
        "script",
        lambda r: r.any(_SAMPLING) and not r.on("--pc-sampling-beta-enabled"),
        "PC sampling is a feature that must be enabled",
        "add --pc-sampling-beta-enabled",
    ),
    Refusal(
        "incomplete sampling",
        "script",
        lambda r: any(r.all(name) for name in _SAMPLING) and not all(r.on(name) for name in _SAMPLING),
        "PC sampling needs a method, a unit and an interval above 0",
        "give all three",
    ),
    Refusal(
        "sampling backwards",
        "script",
        lambda r: (r.number("--pc-sampling-interval") or 0) < 0,
        "the interval of PC sampling must be above 0",
        "512 is usual for host_trap, 1048576 for stochastic",
    ),
    Refusal(
        "streaming not enabled",
        "script",
        lambda r: r.any(_SPM) and not r.on("--spm-beta-enabled"),
        "streaming counters are a feature that must be enabled",
        "add --spm-beta-enabled",
    ),
    Refusal(
        "streaming with others",
        "script",
        lambda r: r.any(_SPM) and (r.on("--pmc") or r.on("--pc-sampling-beta-enabled")),
        "streaming counters go neither with --pmc nor with PC sampling",
        "capture them one after the other",
    ),
    Refusal(
        "streaming of nothing",
        "script",
        lambda r: any(r.all(name) for name in _SPM) and not r.on("--spm"),
        "streaming counters are asked for, but none is named",
        "name them behind --spm",
    ),
    Refusal(
        "sampling of nothing",
        "nobody",
        lambda r: r.on("--pc-sampling-beta-enabled") and not any(r.all(name) for name in _SAMPLING),
        "PC sampling is enabled, but neither method, unit nor interval is given",
        "give all three",
    ),
    Refusal(
        "replay not enabled",
        "script",
        lambda r: r.value("--replay-mode") == "kernel" and not r.on("--kernel-replay-beta-enabled"),
        "replay of kernels is a feature that must be enabled",
        "add --kernel-replay-beta-enabled",
    ),
    Refusal(
        "replay of nothing",
        "script",
        lambda r: r.value("--replay-mode") == "kernel" and not r.on("--pmc"),
        "replay of kernels is for counters, and none is given",
        "add --pmc",
    ),
    Refusal(
        "replay with others",
        "script",
        lambda r: r.value("--replay-mode") == "kernel" and (r.on(_ATT) or r.any(_SAMPLING) or r.any(_SPM)),
        "replay of kernels goes neither with thread traces nor with sampling",
        "capture them one after the other",
    ),
    Refusal(
        "one variable of MPI",
        "script",
        lambda r: bool(r.all("--mpi-world-rank-variable")) != bool(r.all("--mpi-world-size-variable")),
        "of the variables of rank and number of ranks only one is given",
        "give both --mpi-world-rank-variable and --mpi-world-size-variable",
    ),
    Refusal(
        "ranks",
        "script",
        _ranks_problem,
        "the ranks that are given are not ranks of this job",
        "write them as 0-3,8, each below the number of ranks",
    ),
    Refusal(
        "benchmark by queue",
        "script",
        lambda r: r.value("--benchmark-mode") == "execution-profile" and r.on("--group-by-queue"),
        "this benchmark mode does not group by queue",
        "leave --group-by-queue away",
    ),
)


def refusal_of(request: Request) -> Refusal | None:
    """The first rule that refuses a command line; None = nothing speaks against it."""
    for refusal in REFUSALS:
        if is_within(request.version, refusal.since, refusal.last) and refusal.applies(request):
            return refusal
    return None


def check_options(
    given: Sequence[Given], version: Version, environment: Mapping[str, str] | None = None, *, where: str = "rocprofv3"
) -> None:
    """Refuse a command line that the release would refuse, fail on, or take for something else.

    Parameters
    ----------
    given
        Options as `read_words` returns them.
    version
        Of ROCm.
    environment
        In which the program would run: ranks of MPI.
    where
        What an error calls the command line.

    Raises
    ------
    UsageError
        With a better sentence than the release's.
    """
    request = Request(given, version, environment or {})
    refusal = refusal_of(request)
    if refusal is not None:
        raise UsageError(refusal.what, where=where, advice=refusal.advice)
    for each in given:
        name = each.option.name
        if name == "--kernel-iteration-range":
            read_launches(", ".join(each.values))
        elif name == "--collection-period":
            read_periods(each.values, request.value("--collection-period-unit") or "sec")
        elif name in ("--kernel-include-regex", "--kernel-exclude-regex"):
            check_regex(each.values[0], version)
