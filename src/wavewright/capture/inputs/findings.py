"""What is worth saying about a job of an input file: keys that do nothing, values that mean something else, traps."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.capture.inputs.reading import DEFAULTS, Reader, options_by_key, shown
from wavewright.capture.rocprofv3.grammar import read_launches
from wavewright.capture.rocprofv3.option import Kind, version_of
from wavewright.capture.rocprofv3.options import FILE_ONLY_KEYS
from wavewright.capture.rocprofv3.regex import check_regex, regex_warnings
from wavewright.capture.rocprofv3.releases import release_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MIB = 1 << 20
#: Limits of the tool behind the script, which ends the program beyond them (spec: thread_trace/core.cpp).
_BUFFER_BYTES_MIN = MIB
_CU_MAX, _SIMD_MAX, _TRACE_COUNTERS_MAX = 15, 15, 8
#: Where a list is needed; a text is taken letter by letter.
_LISTS = ("pmc", "output_format", "att_library_path", "summary_groups", "collection_period", "spm", "preload")
#: Where 0 counts as not given, and what is then done instead.
_ZEROS = {
    "att_simd_select": "the default 0xF is used: on gfx10 and newer that is SIMD 3",
    "att_gpu_index": "all GPUs are traced",
    "att_shader_engine_mask": "the default 0x1 is used",
    "kernel_iteration_range": "no launches are chosen",
}
_NAMED_LAUNCHES = 8
_KEY_LETTERS = 60


class Level(StrEnum):
    """How bad a finding is."""

    ERROR = "error"  #: Nothing, or something else than meant, is recorded.
    WARNING = "warning"  #: Probably not what is meant.
    NOTE = "note"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing about a file or a job."""

    level: Level
    key: str  #: Empty = about the whole.
    sentence: str
    remedy: str = ""


def job_findings(job: Mapping[Any, Any], reader: Reader) -> list[Finding]:
    """What is worth saying about a job in a release, the worst first."""
    keys = {key: value for key, value in job.items() if isinstance(key, str) and key != "sub_directory"}
    given = {key: value for key, value in keys.items() if value is not None}
    results = [
        *_unknown(given, reader),
        *_values(given, reader),
        *_launches(given, reader),
        *_regexes(given, reader),
        *_thread_trace(given, reader),
        *_outputs(given, reader),
        *_collected(given, reader),
    ]
    order = list(Level)
    return sorted(results, key=lambda finding: order.index(finding.level))


def _of_release(reader: Reader) -> str:
    return f"ROCm {'.'.join(map(str, reader.version))}"


def _unknown(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    by_key = options_by_key()
    names = [*reader.options, *reader.more_keys]
    for key in given:
        plain = key.replace("-", "_")
        name = key[:_KEY_LETTERS]
        if reader.knows(key):
            if key in DEFAULTS and given[key] != DEFAULTS[key]:
                continue  # the script refuses it, which is said elsewhere
            if key == "perfetto_buffer_fill_policy":
                yield _dropped(key, "the script looks for perfetto_fill_policy instead", "perfetto_fill_policy: ...")
            continue
        if plain != key and reader.knows(plain):
            yield _dropped(name, "keys are written with _, not with -", f"write {plain}")
        elif key in by_key and not by_key[key].exists_in(reader.version):
            option = by_key[key]
            first = f"ROCm {option.since} has it first" if version_of(option.since) > reader.version else ""
            last = f"ROCm {option.last} was the last that had it" if not first else ""
            yield _dropped(name, f"{_of_release(reader)} does not know it; {first or last}", "leave it away")
        elif key in FILE_ONLY_KEYS:
            yield _dropped(name, f"{_of_release(reader)} does not know it; ROCm {FILE_ONLY_KEYS[key]} has it first")
        elif alias := _alias(key, reader):
            yield _dropped(name, f"a short name works on the command line only; the key is {alias}", f"write {alias}")
        else:
            near = get_close_matches(plain, names, n=1, cutoff=0.7)
            yield _dropped(name, "there is no such key", f"did you mean {near[0]}?" if near else "leave it away")


def _alias(key: str, reader: Reader) -> str:
    """The key of an option of which something is another name: att."""
    names = {f"--{key.replace('_', '-')}", f"-{key}"}
    owners = (owner for owner, option in reader.options.items() if any(alias.name in names for alias in option.aliases))
    return next(owners, "")


def _dropped(key: str, why: str, remedy: str = "") -> Finding:
    return Finding(level=Level.ERROR, key=key, sentence=f"{key} does nothing: {why}", remedy=remedy)


def _values(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    """Values whose form means something else than it seems."""
    for key, value in given.items():
        option = reader.options.get(key)
        if option is None:
            continue
        if key in _LISTS and isinstance(value, str) and value and key != "preload":
            yield _letters(key, value)
        elif key in _ZEROS and value == 0 and not isinstance(value, bool):
            remedy = f'put it in quotes: {key}: "0"' if key != "kernel_iteration_range" else "launches count from 1"
            yield Finding(
                level=Level.ERROR, key=key, sentence=f"the number 0 counts as not given: {_ZEROS[key]}", remedy=remedy
            )
        elif option.kind is Kind.BOOLEAN and isinstance(value, str):
            sentence = f"{key} is the text {value[:20]!r}, and every text counts as yes"
            yield Finding(level=Level.WARNING, key=key, sentence=sentence, remedy=f"write {key}: true or false")
        elif option.kind is Kind.BOOLEAN and isinstance(value, list | dict) and value:
            sentence = f"{key} is {shown(value)}, which counts as yes"
            yield Finding(level=Level.WARNING, key=key, sentence=sentence, remedy=f"write {key}: true or false")
        elif option.kind in (Kind.TEXT, Kind.CHOICE) and isinstance(value, list | dict):
            sentence = f"{key} is {shown(value)}, and is handed on as that text, brackets and all"
            yield Finding(level=Level.ERROR, key=key, sentence=sentence, remedy=f"write {key}: TEXT")
        elif option.choices:
            yield from _choice(key, value, option.choices_in(reader.version))
    period = given.get("collection_period")
    if isinstance(period, list) and any(isinstance(word, str) and word.endswith(":0") for word in period):
        sentence = "repeat 0 runs a period once, not for ever as documented"
        yield Finding(level=Level.WARNING, key="collection_period", sentence=sentence, remedy="write a large number")


def _letters(key: str, value: str) -> Finding:
    letters = ", ".join(value[:6]) + (", ..." if len(value) > 6 else "")
    words = ", ".join(value.replace(",", " ").split())
    meant = {"pmc": f"asks for the counters {letters}", "att_library_path": f"looks into the folders {letters}"}
    sentence = f"{key} is a text where a list is needed, and {meant.get(key, f'is read as {letters}')}"
    if key == "att_library_path" and "/" in value:
        sentence += "; / is one of them, so that the whole disk is searched"
    return Finding(level=Level.ERROR, key=key, sentence=sentence, remedy=f"write {key}: [{words}]")


def _choice(key: str, value: Any, choices: tuple[str, ...]) -> Iterator[Finding]:
    """The script checks values of options, but not those of a file."""
    values = value if isinstance(value, list) else [value]
    for word in values:
        if isinstance(word, bool) or not isinstance(word, str) or word in choices:
            continue
        near = get_close_matches(word.lower(), choices, n=1, cutoff=0.6)
        sentence = f"{word[:40]!r} is none of {', '.join(choices)}; the script hands it on, and the tool fails"
        yield Finding(level=Level.ERROR, key=key, sentence=sentence, remedy=f"did you mean {near[0]}?" if near else "")


def launch_text(given: Mapping[str, Any]) -> str | None:
    """The launches of a job as the tool gets them; None = none are given, or the script refuses them."""
    value = given.get("kernel_iteration_range")
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return ", ".join(value)
    return None


def _launches(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    """Which launches are recorded, in words."""
    key = "kernel_iteration_range"
    if not reader.knows(key):
        return
    is_traced, is_counted = (
        _is_on(given, reader, "advanced_thread_trace"),
        bool(given.get("pmc") or given.get("pmc_groups")),
    )
    text = launch_text(given)
    if text is None:
        if is_traced and not given.get(key):
            sentence = "no launches are chosen: of each kernel only launch 1 is traced, the coldest of all"
            remedy = 'choose warm ones, such as kernel_iteration_range: "7-8"'
            yield Finding(level=Level.WARNING, key=key, sentence=sentence, remedy=remedy)
        return
    if not is_traced and not is_counted:
        sentence = "launches are chosen for counters and thread traces only, and the job records neither"
        yield Finding(level=Level.WARNING, key=key, sentence=sentence, remedy="add pmc or advanced_thread_trace")
        return
    try:
        launches = read_launches(text)
    except UsageError as error:
        sentence = f"{error.what}: the tool ends the program"
        yield Finding(level=Level.ERROR, key=key, sentence=sentence, remedy=error.advice)
        return
    numbers = [number for number in launches.numbers if number]
    words = "traced" if is_traced else "counted"
    if not numbers:
        yield Finding(level=Level.ERROR, key=key, sentence=f"no launch is {words}: launches count from 1")
        return
    sentence = f"{_named(numbers)} of each kernel {'is' if len(numbers) == 1 else 'are'} {words}"
    is_cold = numbers[0] == 1
    if is_cold:
        sentence += ": the first is the coldest" if len(numbers) > 1 else ", the coldest of all"
    remedy = f'leave 1 away: "{_plain(numbers[1:])}"' if is_cold and len(numbers) > 1 else ""
    is_nested = "[" in text.strip("[] ") or 0 in launches.numbers
    level = Level.WARNING if is_cold or is_nested else Level.NOTE
    yield Finding(level=level, key=key, sentence=sentence, remedy=remedy)
    if is_nested:
        told_apart = "brackets do not mean skip and repeat, they mean nothing"
        zero = "launches count from 1, so that 0 never matches"
        sentence = "; ".join(
            part for part, is_said in ((zero, 0 in launches.numbers), (told_apart, "[" in text)) if is_said
        )
        yield Finding(
            level=Level.NOTE, key=key, sentence=sentence, remedy=f'the same without them: "{_plain(numbers)}"'
        )


def _named(numbers: list[int]) -> str:
    """Launches in a sentence.

    Examples
    --------
    >>> _named([1, 3, 4]), _named([7]), _named(list(range(1, 100)))
    ('launches 1, 3 and 4', 'launch 7', '99 launches, 1 to 99,')
    """
    if len(numbers) == 1:
        return f"launch {numbers[0]}"
    if len(numbers) > _NAMED_LAUNCHES:
        return f"{counted(len(numbers), 'launches')}, {numbers[0]:,} to {numbers[-1]:,},"
    return f"launches {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _plain(numbers: list[int]) -> str:
    from wavewright.capture.rocprofv3.grammar import launch_words

    return " ".join(launch_words(numbers)[:_NAMED_LAUNCHES])


def _is_on(given: Mapping[str, Any], reader: Reader, key: str) -> bool:
    return bool(given.get(key)) and reader.knows(key)


def _regexes(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    records = any(_is_on(given, reader, key) for key in ("advanced_thread_trace", "pmc", "pmc_groups"))
    for key in ("kernel_include_regex", "kernel_exclude_regex"):
        pattern = given.get(key)
        if not isinstance(pattern, str) or not pattern or not reader.knows(key):
            continue
        if not records:
            sentence = "name filters are for counters and thread traces only, and the job records neither"
            yield Finding(level=Level.WARNING, key=key, sentence=sentence)
            continue
        try:
            check_regex(pattern, reader.version)
        except UsageError as error:
            yield Finding(level=Level.ERROR, key=key, sentence=error.what, remedy=error.advice)
            continue
        for sentence in regex_warnings(pattern, reader.version, is_truncating=bool(given.get("truncate_kernels"))):
            is_cut = sentence.startswith("-T")
            said_so = sentence.replace("-T cuts", "truncate_kernels cuts", 1) if is_cut else sentence
            remedy = "leave truncate_kernels away" if is_cut else "write it without that"
            yield Finding(level=Level.ERROR, key=key, sentence=said_so, remedy=remedy)


def number_in(value: Any) -> int | None:
    """A number of a thread trace as it is meant; None = it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return value if isinstance(value, int) else int(value, 16 if "0x" in value else 10)
    except ValueError:
        return None


def _thread_trace(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    parameters = [key for key in given if key.startswith("att_") and reader.knows(key)]
    if not _is_on(given, reader, "advanced_thread_trace"):
        if parameters:
            sentence = f"{', '.join(parameters)} does nothing without advanced_thread_trace"
            yield Finding(
                level=Level.ERROR, key=parameters[0], sentence=sentence, remedy="add advanced_thread_trace: true"
            )
        return
    values = {key: number_in(given.get(key)) for key in parameters}
    mask, size = values.get("att_shader_engine_mask"), values.get("att_buffer_size")
    if size is not None and 0 < size < _BUFFER_BYTES_MIN:
        yield _aborts("att_buffer_size", f"a buffer of {size:,} bytes is below 1 MiB", "0x10000000 is 256 MiB")
    if mask == 0 and not isinstance(given["att_shader_engine_mask"], int):
        yield _aborts("att_shader_engine_mask", "no shader engine is selected", '"0x1" is the first')
    for key, most in (("att_target_cu", _CU_MAX), ("att_simd_select", _SIMD_MAX)):
        number = values.get(key)
        if number is not None and not 0 <= number <= most:
            yield _aborts(key, f"{number:,} is not from 0 to {most}", "")
    engines = mask.bit_count() if mask and mask > 0 else 1
    total = size or release_of(".".join(map(str, reader.version))).default_buffer_bytes
    if engines > 1 and total:
        sentence = (
            f"the buffer of {total / MIB:,.4g} MiB is for all {engines} shader engines together: "
            f"{total / engines / MIB:,.4g} MiB for each"
        )
        yield Finding(level=Level.NOTE, key="att_buffer_size", sentence=sentence)
    counters, period = given.get("att_perfcounters"), given.get("att_perfcounter_ctrl")
    if bool(counters) != bool(period):
        given_key = "att_perfcounters" if counters else "att_perfcounter_ctrl"
        yield _aborts(
            given_key, "counters in the trace need both att_perfcounters and att_perfcounter_ctrl", "add both"
        )
    if isinstance(counters, str):
        if len(counters.split()) > _TRACE_COUNTERS_MAX:
            yield _aborts("att_perfcounters", f"more than {_TRACE_COUNTERS_MAX} counters", "leave some away")
        if counters != counters.upper() and not any(":0x" in word for word in counters.split()):
            sentence = "names of counters are not put into capitals in a file, as they are on the command line"
            yield Finding(
                level=Level.WARNING, key="att_perfcounters", sentence=sentence, remedy=f'"{counters.upper()[:80]}"'
            )
    if given.get("pmc"):
        sentence = "the script accepts thread traces and pmc in one run; whether they disturb each other is not known"
        yield Finding(level=Level.WARNING, key="pmc", sentence=sentence, remedy="make two jobs, each run by itself")


def _aborts(key: str, why: str, remedy: str) -> Finding:
    return Finding(level=Level.ERROR, key=key, sentence=f"{why}: the tool ends the program", remedy=remedy)


def _outputs(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    prefix = given.get("output_file")
    if isinstance(prefix, str) and prefix and not any(mark in prefix for mark in ("%", "{", "$")):
        sentence = "all processes of the program write to the same names"
        yield Finding(
            level=Level.WARNING, key="output_file", sentence=sentence, remedy=f"write output_file: '%pid%/{prefix}'"
        )
    formats = given.get("output_format") or [reader.default_format]
    if not isinstance(formats, list) or not all(isinstance(word, str) for word in formats):
        return  # which is said elsewhere
    if not set(formats) & {"csv", "json"}:
        lost = [what for what, keys in _NOT_IN_DATABASES.items() if any(_is_on(given, reader, key) for key in keys)]
        if lost:
            default = "" if given.get("output_format") else ", which is the default of this release,"
            sentence = f"{', '.join(formats)}{default} holds no {' and no '.join(lost)}"
            yield Finding(
                level=Level.ERROR, key="output_format", sentence=sentence, remedy="write output_format: [csv, json]"
            )
    if "output_format" in given and given["output_format"] and reader.version >= (10, 0):
        old = sorted({"csv", "pftrace", "otf2"} & set(formats))
        if old:
            sentence = f"{', '.join(old)} is called deprecated in this release, and still written"
            yield Finding(level=Level.NOTE, key="output_format", sentence=sentence)


#: What the databases and Perfetto files lack -> keys that ask for it.
_NOT_IN_DATABASES = {
    "tables of totals": ("stats",),
    "PC samples": ("pc_sampling_method", "pc_sampling_unit", "pc_sampling_interval"),
}


def _collected(given: Mapping[str, Any], reader: Reader) -> Iterator[Finding]:
    if _is_on(given, reader, "pmc_groups"):
        sentence = (
            "the groups of counters take turns over the launches of one run: each launch is counted by one of them"
        )
        yield Finding(
            level=Level.NOTE,
            key="pmc_groups",
            sentence=sentence,
            remedy="one job with pmc per group counts every launch",
        )
    if _is_on(given, reader, "pc_sampling_beta_enabled") and not given.get("pc_sampling_method"):
        sentence = "PC sampling is allowed, and not asked for: method, unit and interval are missing"
        yield Finding(level=Level.ERROR, key="pc_sampling_beta_enabled", sentence=sentence)
    recorded = [
        key
        for key, option in reader.options.items()
        if given.get(key) and (option.is_tracing or key in ("spm", "kokkos_trace", "list_avail"))
    ]
    if not recorded and not _is_on(given, reader, "pmc_groups") and not given.get("pid"):
        sentence = "the job records nothing, and the program is run for nothing"
        yield Finding(
            level=Level.ERROR, key="", sentence=sentence, remedy="add kernel_trace, pmc or advanced_thread_trace"
        )
    for key, words in _MACHINE_KEYS.items():
        if _is_on(given, reader, key):
            yield Finding(level=Level.WARNING, key=key, sentence=f"{key} {words}")


#: Keys whose effect depends on the machine: not followed here.
_MACHINE_KEYS = {
    "pid": "attaches to a process that runs already; wavewright starts programs itself",
    "rocm_root": "takes the libraries of another folder, which must exist",
    "profile_mpi_ranks": "lets the other ranks run without the profiler",
    "list_avail": "prints the counters first, which needs a GPU",
}
