"""Recordings for the jobs of an input file, as their author means them: one run per job, in any release.

Repaired on the way: a text where a list is needed, numbers that the script would drop, launch 0. What has no place in
our own classes goes along as an option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import structs

from wavewright.capture.kinds import Counters, Discovery, Recording, RunTrace, Samples, ThreadTraces
from wavewright.capture.rocprofv3.grammar import read_launches
from wavewright.capture.rocprofv3.options import Kind, Option, all_options
from wavewright.capture.rocprofv3.regex import regex_warnings
from wavewright.capture.rocprofv3.releases import NEWEST, Installation
from wavewright.capture.rocprofv3.words import option_words
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

#: Keys of jobs by what they are for (keys.toml), for the checks as well.
KEYS: dict[str, Any] = packaged("keys.toml", __package__)
_PARTS: dict[str, list[str]] = KEYS["parts"]
_WHOLE: list[str] = KEYS["whole_run"]


@cache
def options_by_key() -> dict[str, Option]:
    """Every option of any release, by the key that it has in a file."""
    return {option.key: option for option in all_options().values()}


def launch_text(given: Mapping[str, Any]) -> str | None:
    """The launches of a job as the tool gets them; None = none are given, or the script refuses them."""
    value = given.get("kernel_iteration_range")
    if isinstance(value, str) and value:
        return value
    is_list = isinstance(value, list) and value and all(isinstance(word, str) for word in value)
    return ", ".join(value) if isinstance(value, list) and is_list else None


def number_in(value: Any) -> int | None:
    """A number of a thread trace as it is meant; None = it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return value if isinstance(value, int) else int(value, 16 if "0x" in value else 10)
    except ValueError:
        return None


def words_of(given: Mapping[str, Any], installation: Installation) -> tuple[str, ...]:
    """The words of a command line that say what the keys of a job say, as far as words can."""
    words: list[str] = []
    for key, value in given.items():
        option = options_by_key().get(key)
        if option is not None and option.name in installation.options:
            words += _option_of(option, value)
    return tuple(words)


def _option_of(option: Option, value: Any) -> tuple[str, ...]:
    if option.kind is Kind.BOOLEAN:
        return (option.name,) if _is_yes(value) else (f"{option.name}=no",) if value is False else ()
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return option_words(option.name, *value)
    if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        return option_words(option.name, str(value))
    return ()


def all_recordings(
    jobs: Sequence[Mapping[Any, Any]], common: Mapping[str, Any], contents: Callable[[str], str | None]
) -> list[Recording]:
    """The recordings of all jobs, with the program and the options of a command line.

    Passes of counters that differ in nothing else are one capture. `contents` reads a file that a job names.
    """
    results: list[Recording] = []
    for recording in (each for job in jobs for each in recordings_of(job, common["program"], contents)):
        complete = structs.replace(recording, **{**common, "extra": (*recording.extra, *common["extra"])})
        before = results[-1] if results else None
        if isinstance(complete, Counters) and isinstance(before, Counters):
            together = structs.replace(before, passes=(*before.passes, *complete.passes))
            if structs.replace(complete, passes=together.passes) == together:
                results[-1] = together
                continue
        results.append(complete)
    return results


def recordings_of(
    job: Mapping[Any, Any], program: tuple[str, ...], contents: Callable[[str], str | None]
) -> tuple[Recording, ...]:
    """The recordings of a job: thread traces and counters of one job are two. Empty = nothing that can be run."""
    given = {key: value for key, value in job.items() if isinstance(key, str) and value not in (None, "", [], {})}
    common: dict[str, Any] = {"program": program, "extra": _extra(given)}
    try:
        chosen: dict[str, Any] = common | {
            "kernel_regex": _text(given.get("kernel_include_regex")),
            "exclude_regex": _text(given.get("kernel_exclude_regex")),
            "launches": _launches(given),
        }
    except UsageError:
        return ()
    results: list[Recording] = []
    if _is_yes(given.get("advanced_thread_trace")):
        results.append(_thread_traces(given, chosen))
    passes = _passes(given)
    if passes:
        path = given.get("extra_counters")
        text = (contents(path) or "") if isinstance(path, str) else ""
        results.append(Counters(**chosen, passes=passes, definitions=text))
    if given.get("pc_sampling_method") or given.get("pc_sampling_unit"):
        method, unit = (_text(given.get(f"pc_sampling_{name}")) or None for name in ("method", "unit"))
        interval = number_in(given.get("pc_sampling_interval"))
        results.append(Samples(**common, method=method, unit=unit, interval=interval))
    is_whole = any(_is_yes(given.get(key)) for key in _WHOLE)
    parts = tuple(part for part, keys in _PARTS.items() if any(_is_yes(given.get(key)) for key in keys))
    if results or not (parts or is_whole):
        return tuple(results)
    if set(given) <= set(KEYS["of_discovery"]):
        return (Discovery(program=program),)
    return (RunTrace(**common) if is_whole else RunTrace(**common, parts=parts),)


def _is_yes(value: Any) -> bool:
    return value.strip().lower() not in ("n", "no", "f", "false", "off", "0") if isinstance(value, str) else bool(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _launches(given: Mapping[str, Any]) -> tuple[int, ...]:
    value = given.get("kernel_iteration_range")
    numbers = [value] if isinstance(value, int) else value
    if isinstance(numbers, list) and all(isinstance(number, int) for number in numbers):
        given = {"kernel_iteration_range": " ".join(map(str, numbers))}
    text = launch_text(given)
    return tuple(number for number in read_launches(text).numbers if number > 0) if text else ()


def _thread_traces(given: Mapping[str, Any], chosen: dict[str, Any]) -> ThreadTraces:
    names = given.get("att_perfcounters")
    numbers = {field: number_in(given.get(key)) for field, key in KEYS["trace_numbers"].items()}
    numbers["se_mask"] = numbers["se_mask"] or None
    flags = {field: _is_yes(given.get(key)) for field, key in KEYS["trace_flags"].items()}
    return ThreadTraces(
        **{**chosen, **numbers, **flags},
        buffer_bytes=_bytes(given.get("att_buffer_size")),
        counters=tuple(names.split()) if isinstance(names, str) else _texts(names),
    )


def _bytes(value: Any) -> int | None:
    """A number of bytes, also with a unit (K, M, G: powers of 1024), which the script does not take; None = none."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*([KMG])i?B?\s*", value, re.IGNORECASE) if isinstance(value, str) else None
    if match:
        return int(match[1]) << {"k": 10, "m": 20, "g": 30}[match[2].lower()]
    return number_in(value) or None


def _passes(given: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Counters of each pass: a text is cut at spaces and commas, groups are passes of their own."""
    names = given.get("pmc")
    groups = given.get("pmc_groups") or []
    if isinstance(names, list) and names and all(isinstance(group, list) for group in names):
        groups, names = names, None
    passes = [_counters(names), *map(_counters, groups if isinstance(groups, list) else [groups])]
    return tuple(filter(None, passes))


def _counters(names: Any) -> tuple[str, ...]:
    words = [names] if isinstance(names, str) else _texts(names)
    return tuple(dict.fromkeys(name for word in words for name in word.replace(",", " ").split()))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


def _extra(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Options for what our classes have no place for."""
    by_key = options_by_key()
    traced = {key for keys in _PARTS.values() for key in keys} | {*_WHOLE, "stats"}
    is_special = any(key in given for key in ("advanced_thread_trace", "pmc", "pmc_groups", "pc_sampling_method"))
    pattern, version = _text(given.get("kernel_include_regex")), NEWEST.version
    warnings = [len(regex_warnings(pattern, version, is_truncating=is_short)) for is_short in (False, True)]
    words: list[str] = []
    for key, value in given.items():
        option = by_key.get(key)
        if option is None or key in KEYS["ours"] or (key in traced and not is_special):
            continue
        if key == "truncate_kernels" and warnings[0] < warnings[1]:
            continue  # short names would keep the filter from finding anything
        words += _option_of(option, value)
    return tuple(words)
