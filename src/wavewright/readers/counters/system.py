"""The GPU of a counter capture (`System`): what its files say, completed by the facts about its product.

Three files describe a GPU: sysinfo.csv of ROCm Compute Profiler and Omniperf (`system_of_row`), the list of agents that
rocprofv3 writes beside its counters (`system_of_agents`), and the text of rocminfo beside results of rocprof (v1), from
which `agents_of_rocminfo` makes such a list; columns.toml has the names of their columns. `with_facts` then removes
figures that the GPU cannot have, and adds what the files do not say; `System.said_by` names the source of each.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from wavewright.base.files import open_regular
from wavewright.base.toml import packaged
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.counters import System
from wavewright.model.losses import Loss

_COLUMNS = packaged("columns.toml", __package__)
_FIELDS: dict[str, str] = _COLUMNS["system"]
_OMNIPERF_FIELDS: dict[str, str] = _COLUMNS["omniperf"]
_AGENT_FIELDS: dict[str, str] = _COLUMNS["agents"]
_ROCMINFO_FIELDS: dict[str, str] = _COLUMNS["rocminfo"]
_FILE_BYTES_MAX = 1 << 20
_ROCMINFO_BYTES_MAX = 1 << 22
_ROWS_MAX = 1000
_WORD_LETTERS_MAX = 100
_NOTHING = ("", "na", "n/a", "nan", "none", "null")  #: How files say that something is not known.
_COUNT_MAX, _COUNTS_MAX = 1 << 16, {"l2_channel_count": 4096}  #: Of whole numbers; of those of some fields.


class _Plausible(NamedTuple):
    """Values of a field of `System` that some GPU may have."""

    least: float
    most: float
    #: The value may be so many times that of the product, or its part; 1 = what products have is not compared.
    factor: float = 1


_PLAUSIBLE = {
    "clock_mhz_max": _Plausible(200, 6_000, factor=2.5),
    "memory_clock_mhz_max": _Plausible(200, 20_000),
    # The bandwidth of a whole product is known exactly: Omniperf 1 writes 1,200 GB/s for an MI200 of 1,638.
    "memory_gb_per_second": _Plausible(10, 100_000, factor=1.2),
    "cu_count": _Plausible(1, 2_048),
}

#: Facts of all gfx9 GPUs, and how many CUs share an instruction cache (SQC).
_LDS_BANKS, _PIPES = 32, 4
_CUS_PER_SQC, _CUS_PER_SQC_GFX908 = 2, 3


# --- what files say ---
def first_rows(file: Path, losses: list[Loss]) -> list[dict[str, str]]:
    """The first rows of a small CSV by header; nothing where it cannot be read.

    Where the last line has no end, the file was cut: the cell in which that happened is left out.
    """
    try:
        with open_regular(file) as stream:
            text = stream.read(_FILE_BYTES_MAX).decode("utf-8", "replace").removeprefix("\ufeff")
        is_cut = bool(text) and not text.endswith("\n")
        lines = list(csv.reader(text.splitlines(keepends=True)))
        if is_cut:
            losses.append(Loss("cut_file", detail=file.name))
            lines[-1:] = [lines[-1][:-1]]
        header, *rows = lines or [[]]
        return [dict(zip(map(str.strip, header), row, strict=False)) for row in rows[:_ROWS_MAX] if row]
    except (OSError, csv.Error):
        return []


def system_of_row(row: Mapping[str, str], file: str) -> System:
    """The system that a row of sysinfo.csv describes; 0, NA and nothing mean: not known.

    >>> found = system_of_row({"gpu_arch": "gfx942", "cu_per_gpu": "304", "max_mclk": "NA"}, "sysinfo.csv")
    >>> found.target, found.cu_count, found.memory_clock_mhz_max, found.said_by["cu_count"]
    ('gfx942', 304.0, None, 'sysinfo.csv')
    """
    values = {_OMNIPERF_FIELDS.get(name, name): word for name, word in row.items()} if "gpu_soc" in row else row
    fields: dict[str, Any] = _numbers(values, _FIELDS)
    fields |= {"target": _word(values.get("gpu_arch")), "product": _word(values.get("gpu_model"))}
    return _system_in(file, fields, row)


class _ListedAgent(NamedTuple):
    """A row of a list of agents."""

    fields: dict[str, str]  #: By the names of the columns in small letters.
    cells: Mapping[str, str]  #: By the names as written.


def system_of_agents(rows: Sequence[Mapping[str, str]], used_ids: Collection[str], file: str) -> System:
    """The system of a list of agents: of the GPUs that rows of counters name (`used_ids`), or of all if none is named.

    Where these GPUs are of several targets, nothing is known.

    >>> gpu = {"Node_Id": "1", "Agent_Type": "GPU", "Name": "gfx942", "Cu_Count": "304", "Num_Xcc": "8"}
    >>> system_of_agents([gpu, gpu | {"Node_Id": "2"}], ["2"], "agent_info.csv").xcd_count
    8.0
    """
    agents = [_ListedAgent({name.lower(): word for name, word in row.items() if name}, row) for row in rows]
    gpus_listed = [agent for agent in agents if (agent.fields.get("agent_type") or "").upper() == "GPU"]
    used_gpus = _named_gpus(gpus_listed, used_ids)
    if len({gpu.fields.get("name") for gpu in used_gpus}) != 1:
        return System()
    row = used_gpus[0].fields
    fields: dict[str, Any] = _numbers(row, _AGENT_FIELDS)
    arrays, arrays_per_engine = _count(row.get("array_count")), _count(row.get("simd_arrays_per_engine"))
    fields["se_count"] = arrays / arrays_per_engine if arrays and arrays_per_engine else None
    fields |= {"target": _word(row.get("name")), "product": _word(row.get("product_name"))}
    return _system_in(file, fields, used_gpus[0].cells)


#: How tools name GPUs: by their number among the agents they list, among the GPUs, among all agents of the machine. The
#: last has gaps in a container, so it is tried last.
_FORMS_OF_NAMES = (("agent ", "logical_node_id"), ("gpu ", "gpu"), ("", "node_id"), ("agent ", "node_id"))


def _named_gpus(gpus_listed: Sequence[_ListedAgent], names: Collection[str]) -> Sequence[_ListedAgent]:
    """The GPUs that rows of counters name; all where none has such a name."""
    plain_names = {name.strip().lower().replace("_", " ") for name in names}
    rows = [gpu.fields | {"gpu": str(place)} for place, gpu in enumerate(gpus_listed)]
    for prefix, field in _FORMS_OF_NAMES:
        matches = (f"{prefix}{row.get(field)}" in plain_names for row in rows)
        named_gpus = [gpu for gpu, is_named in zip(gpus_listed, matches, strict=True) if is_named]
        if named_gpus:
            return named_gpus
    return gpus_listed


_AGENT_HEADING = re.compile(r"^Agent \d+\s*$", re.MULTILINE)
_AGENT_LINE = re.compile(r"^  (\w[\w .()-]*?):+\s+(.*?)\s*$", re.MULTILINE)


def agents_of_rocminfo(file: Path) -> list[dict[str, str]]:
    """The agents in a text of rocminfo, under the names that rocprofv3 gives their facts; none if it cannot be read."""
    try:
        with open_regular(file) as stream:
            text = stream.read(_ROCMINFO_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return []
    agents = []
    for block in _AGENT_HEADING.split(text)[1:]:
        fields: dict[str, str] = {}
        for name, word in _AGENT_LINE.findall(block):
            fields.setdefault(name, word.partition("(0x")[0].strip())  # numbers are followed by themselves in hex
        agent = {ours: fields[field] for field, ours in _ROCMINFO_FIELDS.items() if field in fields}
        agents.append({"simd_arrays_per_engine": "1"} | agent)  # `array_count` is its "Shader Engines"
    return agents


def _system_in(file: str, fields: Mapping[str, Any], row: Mapping[str, str]) -> System:
    """The system that a row of a file describes, from the fields that were read in it; None = not known."""
    values = {name: value for name, value in fields.items() if value is not None}
    described = {name: word for name, word in row.items() if name}
    return System(**values, said_by=dict.fromkeys(values, file), described=described)


def _numbers(row: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, Any]:
    """Fields of `System` -> the number in their column; None = not known.

    A figure that `_PLAUSIBLE` bounds is taken as it is: `with_facts` reports it as a loss where it cannot be.
    """
    return {
        field: _positive(row.get(column)) if field in _PLAUSIBLE else _count(row.get(column), _COUNTS_MAX.get(field))
        for field, column in columns.items()
    }


def _positive(word: str | None) -> float | None:
    """A finite number above 0; None = the word is none."""
    try:
        value = float((word or "").strip())
    except ValueError:
        return None
    return value if value > 0 and isfinite(value) else None


def _count(word: str | None, most: int | None = None) -> float | None:
    """A whole number from 1 to `most`; None = the word is none."""
    value = _positive(word)
    return value if value and value.is_integer() and value <= (most or _COUNT_MAX) else None


def _word(word: str | None) -> str | None:
    """A printable name, for the first line of every report."""
    word = "".join(letter if letter.isprintable() else "\ufffd" for letter in (word or "").strip()[:_WORD_LETTERS_MAX])
    return None if word.lower() in _NOTHING else word


# --- what is known about the product ---
def with_facts(system: System, target: str | None = None, losses: list[Loss] | None = None) -> System:
    """The system, completed by the facts about its product, or about the GPU `target` that the user names.

    The memory bandwidth of a product is not used where the number of CUs differs: it is known of whole products only.
    A figure that the GPU cannot have is removed first, with a loss, because peaks would follow from it. Raises
    `UsageError` when no GPU is called `target`.

    >>> found = with_facts(System(target="gfx942", product="MI300X_A1"))
    >>> found.clock_mhz_max, found.said_by["clock_mhz_max"], with_facts(System(), "MI210").target
    (2100.0, 'facts of MI300X', 'gfx90a')
    """
    facts = gpus.of(target) if target else _facts_of(system)
    system = _without_implausible(system, facts, losses if losses is not None else [])
    if facts is None:
        return _with_derived_facts(system)
    if target:
        by_user: dict[str, Any] = {"target": facts.target, "product": facts.product.name or None}
        system = replace(system, **by_user, said_by=system.said_by | dict.fromkeys(by_user, "--target"))
    product = facts.product
    is_whole = system.cu_count is None or system.cu_count == product.cu_count
    fields: dict[str, Any] = {
        "cu_count": product.cu_count,
        "simds_per_cu": facts.simds_per_cu,
        "wave_size": max(facts.wave_sizes) if facts.target.startswith("gfx9") else None,
        "waves_per_cu_max": facts.compute_waves_per_cu_max or facts.waves_per_simd_max * facts.simds_per_cu,
        "clock_mhz_max": product.clock_hz_max / 1e6 if product.clock_hz_max else None,
        "l2_channel_count": product.l2_channel_count if is_whole else None,
        "se_count": product.se_count if is_whole else None,
        "xcd_count": _xcd_count(facts, is_whole=is_whole),
    }
    if system.memory_clock_mhz_max is None or system.memory_channel_count is None:
        fields["memory_gb_per_second"] = _memory_peak(facts, system.cu_count) or None
    source = f"facts of {product.name or facts.target}"
    named_product = (system.product or "").lower()
    if product.name and product.name.lower() not in named_product and not target:
        source += f", assumed for {system.product or facts.target}"
    return _with_derived_facts(_completed(system, fields, source))


def _facts_of(system: System) -> gpus.Arch | None:
    """The facts about the product that the capture names; of "MI250X/MI250", the one with as many CUs."""
    product = system.product or ""
    candidates = []
    for name in (product, product.split("_")[0], *product.split("/"), system.target):
        try:
            facts = gpus.of((name or "").strip())
        except UsageError:
            continue
        if system.target is None or facts.target == system.target:
            candidates.append(facts)
    by_name = [facts for facts in candidates if facts.product.name and facts.product.name in product]
    by_cu_count = [facts for facts in by_name if facts.product.cu_count == system.cu_count]
    return next(iter(by_cu_count or candidates), None)


def _completed(system: System, fields: Mapping[str, Any], source: str) -> System:
    """The system with those fields that it does not have yet; 0 and None stay unknown."""
    unknown = [name for name, value in fields.items() if value and getattr(system, name) is None]
    new: dict[str, Any] = {name: float(fields[name]) for name in unknown}
    return replace(system, **new, said_by=system.said_by | dict.fromkeys(new, source))


def _without_implausible(system: System, facts: gpus.Arch | None, losses: list[Loss]) -> System:
    """The system without the figures that no GPU of its kind can have; each of them is a loss."""
    product = facts.product if facts else None
    usual_values = {
        "clock_mhz_max": (product.clock_hz_max or 0) / 1e6 if product else 0,
        "memory_gb_per_second": _memory_peak(facts, system.cu_count) if facts and system.cu_count else 0,
    }
    removed_fields: dict[str, Any] = {}
    for name, (least, most, factor) in _PLAUSIBLE.items():
        value, usual = getattr(system, name), usual_values.get(name, 0)
        if value is None or system.said_by.get(name) == "--target":
            continue
        is_far = bool(usual) and not usual / factor <= value <= usual * factor
        is_memory = name == "memory_gb_per_second"
        is_of_one_die = is_memory and not usual and value * factor < _slowest_whole_memory(system, facts)
        if is_far or is_of_one_die or not least <= value <= most:
            removed_fields[name] = None
            detail = f"{system.said_by.get(name, 'the capture')} says {name} {value:g}"
            losses.append(Loss("implausible_fact", detail=detail))
    said_by = {name: source for name, source in system.said_by.items() if name not in removed_fields}
    return replace(system, **removed_fields, said_by=said_by)


def _memory_peak(facts: gpus.Arch, cu_count: float | None) -> float:
    """GB/s of the product, else of all products of the target that have as many CUs; 0 = not known, or they differ."""
    products = [facts.product] if cu_count in (None, facts.product.cu_count) else facts.products
    peaks = {product.memory_bytes_per_second_peak for product in products if cu_count in (None, product.cu_count)}
    return (peaks.pop() or 0) / 1e9 if len(peaks) == 1 else 0


def _slowest_whole_memory(system: System, facts: gpus.Arch | None) -> float:
    """GB/s of the slowest product of the target, where the GPU is not partitioned; 0 = not known, or it is.

    ROCm Compute Profiler writes the bandwidth of one die for products that it does not know.
    """
    modes = (system.described.get("compute_partition"), system.described.get("memory_partition"))
    if facts is None or modes != ("SPX", "NPS1"):
        return 0
    return min((product.memory_bytes_per_second_peak or 0 for product in facts.products), default=0) / 1e9


def _xcd_count(facts: gpus.Arch, *, is_whole: bool) -> int | None:
    """Dies of a GPU: one where no product of the target has more; of others all, if the whole product was measured."""
    if not any(product.xcds_per_partition for product in facts.products):
        return 1
    return facts.product.xcds_per_partition.get("SPX") if is_whole else None


def _with_derived_facts(system: System) -> System:
    """The system with what follows from its other fields: the peak of the memory, and of gfx9 its banks and caches."""
    memory = {"memory_gb_per_second": system.memory_peak_gb_per_second}
    system = _completed(system, memory, system.said_by.get("memory_clock_mhz_max", ""))
    fields: dict[str, Any] = {}
    if system.target in gpus.TARGETS and system.target.startswith("gfx9"):
        fields = {"lds_bank_count": _LDS_BANKS, "pipe_count": _PIPES}
        if system.cu_count and system.se_count:
            cus_per_sqc = _CUS_PER_SQC_GFX908 if system.target == "gfx908" else _CUS_PER_SQC
            caches_per_engine = -(-system.cu_count // (system.se_count * cus_per_sqc))  # rounded up
            fields["sqc_count"] = caches_per_engine * system.se_count
            if system.target == "gfx908":  # ROCm Compute Profiler writes what two CUs per cache would give
                system = replace(system, sqc_count=None)
    return _completed(system, fields, f"facts of {system.target}")
