"""The GPU of a capture: from sysinfo.csv, the list of agents next to the counters, or the user."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from wavewright.base.files import open_regular
from wavewright.base.toml import packaged
from wavewright.errors import UsageError
from wavewright.facts import gpus as arch
from wavewright.model.counters import System
from wavewright.model.losses import Loss

_COLUMNS = packaged("columns.toml", __package__)
_FIELDS: dict[str, str] = _COLUMNS["system"]
_OMNIPERF_FIELDS: dict[str, str] = _COLUMNS["omniperf"]
_AGENT_FIELDS: dict[str, str] = _COLUMNS["agents"]
#: MHz, GB/s or a number, between which some GPU may lie; and how far one is from what is known about it.
_PLAUSIBLE = {
    "clock_mhz_max": (200, 6_000),
    "memory_clock_mhz_max": (200, 20_000),
    "memory_gb_per_second": (10, 100_000),
    "cu_count": (1, 2_048),
}
#: The bandwidth of a whole product is known exactly: Omniperf 1 writes 1,200 GB/s for an MI200 of 1,638.
_FACTORS_MAX = {"clock_mhz_max": 2.5, "memory_gb_per_second": 1.2}
_COUNT_MAX = 1 << 16
_MOST_ROWS = 1000
_WORD_MAX = 100
_L2_CHANNELS_MAX = 4096
_MAX_BYTES = 1 << 20
_NOTHING = ("", "na", "n/a", "nan", "none", "null")
_LDS_BANKS = 32
_PIPES = 4
_CUS_PER_SQC = 2
_CUS_PER_SQC_GFX908 = 3


def first_rows(file: Path, losses: list[Loss]) -> list[dict[str, str]]:
    """The first rows of a small CSV by header; nothing where it cannot be read.

    Where the last line has no end, the file was cut: the cell in which that happened is left out.
    """
    try:
        with open_regular(file) as stream:
            text = stream.read(_MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
        is_cut = bool(text) and not text.endswith("\n")
        lines = list(csv.reader(text.splitlines(keepends=True)))
        if is_cut:
            losses.append(Loss("cut_file", detail=file.name))
            lines[-1:] = [lines[-1][:-1]]
        header, *rows = lines or [[]]
        return [dict(zip(map(str.strip, header), row, strict=False)) for row in rows[:_MOST_ROWS] if row]
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
    return _said(fields, file, {name: word for name, word in row.items() if name})


def system_of_agents(rows: Sequence[Mapping[str, str]], used_ids: Collection[str], file: str) -> System:
    """The system of a list of agents, from the GPUs that were used, if they are alike; None = from all of them.

    >>> gpu = {"Node_Id": "1", "Agent_Type": "GPU", "Name": "gfx942", "Cu_Count": "304", "Num_Xcc": "8"}
    >>> system_of_agents([gpu, gpu | {"Node_Id": "2"}], ["2"], "agent_info.csv").xcd_count
    8.0
    """
    pairs = [({name.lower(): word for name, word in row.items() if name}, row) for row in rows]
    gpus = [pair for pair in pairs if (pair[0].get("agent_type") or "").upper() == "GPU"]
    used_gpus = _gpus_of(gpus, used_ids)
    if len({row.get("name") for row, _ in used_gpus}) != 1:
        return System()
    row, original = used_gpus[0]
    fields: dict[str, Any] = _numbers(row, _AGENT_FIELDS)
    arrays, per_engine = _number(row.get("array_count")), _number(row.get("simd_arrays_per_engine"))
    fields["se_count"] = arrays / per_engine if arrays and per_engine else None
    fields |= {"target": _word(row.get("name")), "product": _word(row.get("product_name"))}
    return _said(fields, file, {name: word for name, word in original.items() if name})


_Agent = tuple[dict[str, str], Mapping[str, str]]  #: A row of a list of agents, with its names in small letters, too.
#: How tools name GPUs: by their number among the agents they list, among the GPUs, among all agents of the machine.
_FORMS_OF_NAMES = (("agent ", "logical_node_id"), ("gpu ", "gpu"), ("", "node_id"), ("agent ", "node_id"))


def _gpus_of(gpus: Sequence[_Agent], names: Collection[str]) -> Sequence[_Agent]:
    """The GPUs that rows of counters name; all where none has such a name."""
    words = {name.strip().lower().replace("_", " ") for name in names}
    rows = [row | {"gpu": str(place)} for place, (row, _) in enumerate(gpus)]
    for prefix, field in _FORMS_OF_NAMES:
        used_gpus = [gpu for gpu, row in zip(gpus, rows, strict=True) if f"{prefix}{row.get(field)}" in words]
        if used_gpus:
            return used_gpus
    return gpus


def with_facts(system: System, target: str | None = None, losses: list[Loss] | None = None) -> System:
    """The system, completed by the facts about its product, or about the GPU `target` that the user names.

    The memory bandwidth of a product is not used where the number of CUs differs: it is known of whole products only.
    A figure that the GPU cannot have is removed first, with a loss, because peaks would follow from it. Raises
    `UsageError` when no GPU is called `target`.

    >>> found = with_facts(System(target="gfx942", product="MI300X_A1"))
    >>> found.clock_mhz_max, found.said_by["clock_mhz_max"], with_facts(System(), "MI210").target
    (2100.0, 'facts of MI300X', 'gfx90a')
    """
    facts = arch.of(target) if target else _facts(system)
    system = _plausible(system, facts, losses if losses is not None else [])
    if facts is None:
        return _with_rules(system)
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
    return _with_rules(_filled(system, fields, source))


def _memory_peak(facts: arch.Arch, cu_count: float | None) -> float:
    """GB/s of the product, else of all products of the target that have as many CUs; 0 = not known, or they differ."""
    products = [facts.product] if cu_count in (None, facts.product.cu_count) else facts.products
    peaks = {product.memory_bytes_per_second_peak for product in products if cu_count in (None, product.cu_count)}
    return (peaks.pop() or 0) / 1e9 if len(peaks) == 1 else 0


def _plausible(system: System, facts: arch.Arch | None, losses: list[Loss]) -> System:
    """The system without the figures that no GPU of its kind can have; each of them is a loss."""
    product = facts.product if facts else None
    usual_values = {
        "clock_mhz_max": (product.clock_hz_max or 0) / 1e6 if product else 0,
        "memory_gb_per_second": _memory_peak(facts, system.cu_count) if facts and system.cu_count else 0,
    }
    unknown: dict[str, Any] = {}
    for name, (least, most) in _PLAUSIBLE.items():
        value, usual = getattr(system, name), usual_values.get(name, 0)
        if value is None or system.said_by.get(name) == "--target":
            continue
        factor = _FACTORS_MAX.get(name, 1)
        is_far = bool(usual) and not usual / factor <= value <= usual * factor
        is_part = name == "memory_gb_per_second" and not usual and value * factor < _least_of_whole(system, facts)
        if is_far or is_part or not least <= value <= most:
            unknown[name] = None
            detail = f"{system.said_by.get(name, 'the capture')} says {name} {value:g}"
            losses.append(Loss("implausible_fact", detail=detail))
    said_by = {name: source for name, source in system.said_by.items() if name not in unknown}
    return replace(system, **unknown, said_by=said_by) if unknown else system


def _least_of_whole(system: System, facts: arch.Arch | None) -> float:
    """GB/s of the slowest product of the target, where the GPU is not partitioned; 0 = not known, or it is.

    ROCm Compute Profiler writes the bandwidth of one die for products that it does not know.
    """
    modes = (system.described.get("compute_partition"), system.described.get("memory_partition"))
    if facts is None or modes != ("SPX", "NPS1"):
        return 0
    return min((product.memory_bytes_per_second_peak or 0 for product in facts.products), default=0) / 1e9


def _with_rules(system: System) -> System:
    """Facts derived from other facts."""
    fields: dict[str, Any] = {}
    memory = {"memory_gb_per_second": system.memory_peak_gb_per_second}
    system = _filled(system, memory, system.said_by.get("memory_clock_mhz_max", ""))
    if system.target in arch.TARGETS and system.target.startswith("gfx9"):
        fields = {"lds_bank_count": _LDS_BANKS, "pipe_count": _PIPES}
        if system.cu_count and system.se_count:
            cus_per_sqc = _CUS_PER_SQC_GFX908 if system.target == "gfx908" else _CUS_PER_SQC
            fields["sqc_count"] = -(-system.cu_count // (system.se_count * cus_per_sqc)) * system.se_count
            if system.target == "gfx908":  # ROCm Compute Profiler writes what two CUs per cache would give
                system = replace(system, sqc_count=None)
    return _filled(system, fields, f"facts of {system.target}")


def _xcd_count(facts: arch.Arch, *, is_whole: bool) -> int | None:
    """Dies of a GPU: one where no product of the target has more; of others all, if the whole product was measured."""
    if not any(product.xcds_per_partition for product in facts.products):
        return 1
    return facts.product.xcds_per_partition.get("SPX") if is_whole else None


def _facts(system: System) -> arch.Arch | None:
    """The facts about the product that the capture names; of "MI250X/MI250", the one with as many CUs."""
    product = system.product or ""
    candidates = []
    for name in (product, product.split("_")[0], *product.split("/"), system.target):
        try:
            facts = arch.of((name or "").strip())
        except UsageError:
            continue
        if system.target is None or facts.target == system.target:
            candidates.append(facts)
    by_name = [facts for facts in candidates if facts.product.name and facts.product.name in product]
    by_cu_count = [facts for facts in by_name if facts.product.cu_count == system.cu_count]
    return next(iter(by_cu_count or candidates), None)


def _filled(system: System, fields: Mapping[str, Any], source: str) -> System:
    new: dict[str, Any] = {
        name: float(value) for name, value in fields.items() if value and getattr(system, name) is None
    }
    return replace(system, **new, said_by=system.said_by | dict.fromkeys(new, source))


def _said(fields: Mapping[str, Any], file: str, descriptions: dict[str, str]) -> System:
    values = {name: value for name, value in fields.items() if value is not None}
    return System(**values, said_by=dict.fromkeys(values, file), described=descriptions)


def _numbers(row: Mapping[str, str], fields: Mapping[str, str]) -> dict[str, Any]:
    """Our names -> what a row says there; what no GPU can have is not known."""
    return {name: _number(row.get(field), name) for name, field in fields.items()}


def _number(word: str | None, name: str = "") -> float | None:
    try:
        value = float((word or "").strip())
    except ValueError:
        return None
    if name in _PLAUSIBLE:
        return value if value > 0 and isfinite(value) else None  # `_plausible` tells of what cannot be
    most = _L2_CHANNELS_MAX if name == "l2_channel_count" else _COUNT_MAX
    return value if 1 <= value <= most and value.is_integer() else None


def _word(word: str | None) -> str | None:
    """A printable name, for the first line of every report."""
    word = "".join(letter if letter.isprintable() else "\ufffd" for letter in (word or "").strip()[:_WORD_MAX])
    return None if word.lower() in _NOTHING else word


# --- the text of rocminfo, which rocprof (v1) leaves beside its results: one block of lines per agent ---


_ROCMINFO_BYTES_MAX = 1 << 22
_AGENT = re.compile(r"^Agent \d+\s*$", re.MULTILINE)
_LINE = re.compile(r"^  (\w[\w .()-]*?):+\s+(.*?)\s*$", re.MULTILINE)
_NAMES: dict[str, str] = _COLUMNS["rocminfo"]


def agents_of_rocminfo(file: Path) -> list[dict[str, str]]:
    """The agents under the names that rocprofv3 gives their facts; nothing where the file cannot be read."""
    try:
        with open_regular(file) as stream:
            text = stream.read(_ROCMINFO_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return []
    agents = []
    for block in _AGENT.split(text)[1:]:
        fields: dict[str, str] = {}
        for name, word in _LINE.findall(block):
            fields.setdefault(name, word.partition("(0x")[0].strip())
        agent = {ours: fields[field] for field, ours in _NAMES.items() if field in fields}
        agents.append({"simd_arrays_per_engine": "1"} | agent)
    return agents
