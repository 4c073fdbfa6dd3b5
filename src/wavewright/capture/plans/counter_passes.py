"""From panels, metrics or names of counters to the passes of a capture, and to the input file of rocprofv3 for them.

Panels and metrics are planned so that the counters of a ratio are of one pass; plain names are only packed, by the
registers that each block of the target has.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import command_line
from wavewright.base.words import counted, some_of
from wavewright.capture.rocprofv3.regex import parts_regex
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.counters.plan import CapturePlan
    from wavewright.facts.gpus.counting import Counting

#: A counter with what may follow its name: a reduction, one instance, one GPU.
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*?)(_sum|_avr|_max|_min)?(\[\d+\])?(:device=\d+)?")
_IDS_MAX = 12  #: Metrics in a remark.
_ACCUMULATED = re.compile(r"(\w+)_ACCUM")
#: Counters that rocprofv3 computes from others.
_COMPUTED = frozenset(packaged("commands.toml", __package__)["computed_counters"])


@dataclass(frozen=True, kw_only=True)
class Passes:
    """The counters of each run."""

    passes: tuple[tuple[str, ...], ...]
    definitions: str = ""  #: YAML of counters that have no name there (-E); empty = none are needed.
    notes: tuple[str, ...] = ()


def passes_for(
    gpu: str,
    *,
    panels: Sequence[str] = (),
    metrics: Sequence[str] = (),
    counters: Sequence[str] = (),
    more: Sequence[Path] = (),
    max_passes: int | None = None,
) -> Passes:
    """The passes for panels and metrics, and for counters by name; without any, for the panels that most people need.

    `gpu` is a target (gfx942) or a product (MI300X). `counters` are names, also with `:device=N`; several may be in one
    text, divided by spaces or commas. The others are as `analysis.counters.plan.plan_capture` takes them.
    """
    from wavewright.analysis.counters.plan import plan_capture

    if counters and not panels and not metrics:
        return packed_passes(gpu, counters)
    plan = plan_capture(gpu, panels=panels, metrics=metrics, more=more, max_passes=max_passes)
    if not plan.passes.height:
        reasons = plan.metrics["reason"].unique(maintain_order=True).to_list()
        what = f"nothing of this can be counted on {plan.target}: {'; '.join(filter(None, reasons))}"
        raise UsageError(what, advice="`wavewright metrics` lists what there is")
    passes = tuple(tuple(names) for names in pass_names(plan).values())
    planned = Passes(passes=passes, definitions=definitions(plan), notes=tuple(remarks(plan)))
    if not counters:
        return planned
    packed = packed_passes(gpu, counters)
    counted_already = {name for names in passes for name in names}
    rest = [others for names in packed.passes if (others := tuple(n for n in names if n not in counted_already))]
    return Passes(
        passes=(*passes, *rest),
        definitions=planned.definitions or packed.definitions,
        notes=tuple(dict.fromkeys((*planned.notes, *packed.notes))),
    )


def pass_names(plan: CapturePlan) -> dict[int, list[str]]:
    """Pass -> names for rocprofv3, in order; single L2 channels have names of their own."""
    names: dict[int, list[str]] = {}
    for row in plan.counters.iter_rows(named=True):
        counters = names.setdefault(row["pass"], [])
        counters += [row["spelled"], *_channels(plan, row)]
    return names


def _channels(plan: CapturePlan, row: dict[str, Any]) -> dict[str, str]:
    """Names of the single L2 channels of a counter, with their expressions."""
    raw, expression = row["spelled"].removesuffix("_sum"), "select({},[DIMENSION_XCC=[{}], DIMENSION_INSTANCE=[{}]])"
    numbers = range(plan.channel_count if row["has_channels"] else 0)
    return {f"{raw}[{each}]": expression.format(raw, *divmod(each, plan.channels_per_xcd)) for each in numbers}


def definitions(plan: CapturePlan) -> str:
    """The counters of a plan that have to be defined (`rocprofv3 -E`), as YAML; empty when there are none."""
    by_name: dict[str, str] = {}
    for row in plan.counters.iter_rows(named=True):
        if match := _ACCUMULATED.fullmatch(row["spelled"]):
            by_name[row["spelled"]] = _accumulation(match[1])
        by_name |= _channels(plan, row)
    return definitions_text(by_name, plan.target)


def _accumulation(level: str) -> str:
    return f"accumulate({level}, HIGH_RES)"


def definitions_text(by_name: dict[str, str], target: str) -> str:
    """Names and expressions as rocprofv3 reads them; empty when there are none."""
    if not by_name:
        return ""
    lines = ["rocprofiler-sdk:", "  counters-schema-version: 1", "  counters:"]
    for counter, expression in by_name.items():
        lines += [
            f"    - name: {json.dumps(counter)}",
            f"      description: {json.dumps(expression)}",
            "      properties: []",
            "      definitions:",
            f"        - architectures: [{target}]",
            f"          expression: {json.dumps(expression)}",
        ]
    return "\n".join([*lines, ""])


@dataclass(frozen=True)
class _Asked:
    """A counter that was asked for."""

    name: str  #: For rocprofv3: spelled for the target, with what follows it.
    counter: str  #: Our name of the basic counter; empty = computed by rocprofv3 from others.
    level: str = ""  #: The level counter that it adds up.


def packed_passes(gpu: str, counters: Sequence[str]) -> Passes:
    """Few passes that hold some counters by name."""
    from wavewright.analysis.counters.plan.passes import Need, block_of, pack
    from wavewright.facts import gpus
    from wavewright.facts.gpus.counting import counting_of

    target = gpus.of(gpu).target
    counting = counting_of(target)
    words = [word for text in counters for word in text.replace(",", " ").split()]
    if not words:
        raise UsageError("no counter is named", advice="as --pmc SQ_WAVES,TCC_HIT_sum")
    our_names = _known_counters(target)
    notes = [counting.note] if counting.note else []
    asked: dict[str, _Asked] = {}
    for word in dict.fromkeys(words):
        each, note = _asked(word, target, counting, our_names)
        asked[each.name] = each
        notes += [note] if note else []
    basic = [each for each in asked.values() if each.counter or each.level]
    needs = [Need(frozenset({each.counter} - {""}), each.level) for each in basic]
    passes: list[tuple[str, ...]] = []
    for packed in pack(needs, counting.slots):
        counters_here = set(packed.counters)
        here = [
            each
            for each in basic
            if (each.counter in counters_here if each.counter else each.level == packed.level)
            and not any(each.name in names for names in passes)
        ]
        by_block = sorted(here, key=lambda each: (block_of(each.counter or each.level), each.name))
        passes.append(tuple(each.name for each in by_block))
    passes += [(each.name,) for each in asked.values() if not each.counter and not each.level]
    definitions = definitions_text({each.name: _accumulation(each.level) for each in basic if each.level}, target)
    return Passes(passes=tuple(filter(None, passes)), definitions=definitions, notes=tuple(dict.fromkeys(notes)))


def _known_counters(target: str) -> frozenset[str]:
    """The basic counters that our metrics of a target read."""
    from wavewright.facts.metrics.expression import parse
    from wavewright.facts.metrics.panels import panels_of

    metrics = [metric for panel in panels_of(target) for table in panel.tables for metric in table.metrics]
    counters = {name for each in metrics if each.formula is not None for name in parse(each.formula).counters}
    return frozenset(counters | {each.level for each in metrics if each.level})


def _asked(word: str, target: str, counting: Counting, our_names: frozenset[str]) -> tuple[_Asked, str]:
    match = _NAME.fullmatch(word)
    if match is None:
        raise UsageError(f"{word[:60]!r} is not the name of a counter", advice="as SQ_WAVES or TCC_HIT_sum")
    base, reduction, instance, device = (match[at] or "" for at in (1, 2, 3, 4))
    if base in _COMPUTED:
        return _Asked(word, ""), f"{base} is computed from other counters, and has a pass of its own"
    level = base.removesuffix("_ACCUM") if base.endswith("_ACCUM") else ""
    ours = _our_name(level or base)
    if ours in counting.missing:
        what = f"rocprofv3 cannot count {ours} on {target}"
        raise UsageError(what, advice="leave it away; other counters of the block may tell the same")
    if level:
        if not counting.accumulates:
            raise UsageError(f"{target} cannot add up {level} cycle by cycle", advice="leave it away")
        return _Asked(f"{counting.spelled_raw(ours)}_ACCUM{device}", "", level=ours), ""
    spelled = f"{counting.spelled_raw(ours)}{reduction}{instance}{device}"
    _check_name(word, ours, target, counting, our_names)
    note = "" if spelled == word else f"{word} is called {spelled} on {target}"
    if not note and our_names and ours not in our_names:
        note = f"{base} is in none of our metrics: `rocprofv3-avail info --pmc {base}` tells whether {target} has it"
    return _Asked(spelled, ours), note


def _our_name(name: str) -> str:
    """A counter by the name that our tables use, from the name of any target."""
    from wavewright.facts.gpus.counting import counting_of

    for ours, theirs in counting_of("gfx9").spelling.items():
        if name.startswith(theirs) and not name.startswith(ours):
            return ours + name[len(theirs) :]
    return name


def _check_name(word: str, name: str, target: str, counting: Counting, our_names: frozenset[str]) -> None:
    """Refuse a name that is of no block, or a slip."""
    from wavewright.analysis.counters.plan.passes import block_of

    if name in our_names:
        return
    candidates = sorted(our_names | _COMPUTED)
    near = get_close_matches(name.upper(), candidates, n=3, cutoff=0.75)
    advice = f"did you mean {' or '.join(near)}?" if near else f"`rocprofv3-avail list --pmc` lists those of {target}"
    if name != name.upper() or block_of(name) not in counting.slots:
        blocks = ", ".join(sorted(counting.slots))
        raise UsageError(f"{target} has no counter {word[:60]}: its blocks are {blocks}", advice=advice)
    if any(_is_slip(name, other) for other in near):
        raise UsageError(f"there is no counter {word[:60]}", advice=advice)


def _is_slip(name: str, other: str) -> bool:
    """True when one letter is wrong, missing, too many or swapped; digits tell counters apart.

    >>> _is_slip("SQ_WAEVS", "SQ_WAVES"), _is_slip("SQ_WAVE", "SQ_WAVES"), _is_slip("TCC_EA1_RD", "TCC_EA0_RD")
    (True, True, False)
    """
    if abs(len(name) - len(other)) > 1 or re.sub(r"\D", "", name) != re.sub(r"\D", "", other):
        return False
    if sorted(name) == sorted(other):
        return sum(a != b for a, b in zip(name, other, strict=True)) == 2
    shorter, longer = sorted((name, other), key=len)
    if len(shorter) == len(longer):
        return sum(a != b for a, b in zip(name, other, strict=True)) == 1
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def summary(plan: CapturePlan) -> str:
    """The number of passes, and their purpose."""
    passes = counted(plan.passes.height, "passes")
    measured = int(plan.metrics["is_measured"].sum())
    return f"{passes} on {plan.target}: {measured:,} of {plan.metrics.height:,} metrics can be computed"


def remarks(plan: CapturePlan) -> list[str]:
    """Limits of the plan: metrics from several passes, metrics that cannot be measured, and why."""
    metrics = plan.metrics
    lines = list(plan.notes)
    spread = metrics.filter((metrics["passes"] != "") & metrics["is_ratio"])
    if spread.height:
        ids = some_of(spread["metric_id"], _IDS_MAX)
        lines.append(f"from several passes, as a block cannot count so much at once: {ids}")
    for reason, group in metrics.filter(~metrics["is_measured"]).group_by("reason", maintain_order=True):
        lines.append(f"not measured, {reason[0]}: {some_of(group['metric_id'].unique(maintain_order=True), _IDS_MAX)}")
    return lines


# --- a plan as input of rocprofv3: jobs in JSON, which every release reads and none warns about. The program runs once
# per job, and each pass is written into a folder of its own. Level counters added up over time and single L2 channels
# have no names there: a second file defines them (`-E`, from ROCm 6.4 on).


def input_text(plan: CapturePlan, *, kernels: Sequence[str] = ()) -> str:
    """The input file; `kernels` are parts of names."""
    filters = {"kernel_include_regex": parts_regex(kernels)} if kernels else {}
    jobs: list[dict[str, Any]] = [{"pmc": names, **filters} for names in pass_names(plan).values()]
    return json.dumps({"jobs": jobs}, indent=2) + "\n"


def commands(plan: CapturePlan, path: Path | None = None) -> tuple[str, str]:
    """The command that takes the capture, and the one that shows it. `path` is the input file."""
    path = path or Path("counters.json")
    extra = ["-E", str(_beside(path))] if definitions(plan) else []
    words = ["rocprofv3", "-i", str(path), *extra, "--output-format", "csv", "-d", "capture", "--", "./program"]
    return command_line(words), "wavewright counters capture"


def input_files(plan: CapturePlan, path: Path, *, kernels: Sequence[str] = ()) -> dict[Path, str]:
    """The input file, and beside it the definitions if there are any: path -> text."""
    if path.suffix != ".json":
        what = "rocprofv3 knows the form of an input by its extension"
        raise UsageError(what, where=str(path), advice="let it end in .json")
    texts = {path: input_text(plan, kernels=kernels)}
    if extra := definitions(plan):
        texts[_beside(path)] = extra
    return texts


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.counters.yaml")
