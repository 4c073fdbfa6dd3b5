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
    from wavewright.analysis.counters.plan.passes import Packed
    from wavewright.facts.gpus.counting import Counting

_NAME = re.compile(
    r"(?P<base>[A-Za-z][A-Za-z0-9_]*?)(?P<reduction>_sum|_avr|_max|_min)?(?P<instance>\[\d+\])?(?P<gpu>:device=\d+)?"
)
_IDS_MAX = 12  #: Ids of metrics that a remark lists.
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
    more_passes = (tuple(name for name in names if name not in counted_already) for names in packed.passes)
    return Passes(
        passes=(*passes, *filter(None, more_passes)),
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
    """Names of the single L2 channels of a counter -> their expressions for rocprofv3; empty = it has none."""
    raw = row["spelled"].removesuffix("_sum")
    expressions = {}
    for channel in range(plan.channel_count if row["has_channels"] else 0):
        xcd, instance = divmod(channel, plan.channels_per_xcd)
        expressions[f"{raw}[{channel}]"] = f"select({raw},[DIMENSION_XCC=[{xcd}], DIMENSION_INSTANCE=[{instance}]])"
    return expressions


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
class _RequestedCounter:
    """A counter that a command line names: a basic one, the sum of a level counter, or one computed from others."""

    name: str  #: For rocprofv3: spelled for the target, with what follows it.
    counter: str = ""  #: Our name of the basic counter; empty = it is of the other two kinds.
    level: str = ""  #: Our name of the level counter that it adds up; empty = it adds up none.
    note: str = ""  #: What the user should know about it.

    @property
    def is_computed(self) -> bool:
        """True if rocprofv3 computes it from others, which are not known here: it gets a pass of its own."""
        return not self.counter and not self.level

    def is_in(self, packed: Packed) -> bool:
        """True if a pass has room for it: for the counter itself, or for all that adds up its level."""
        return self.counter in packed.counters if self.counter else self.level == packed.level


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
    requests = [_requested(word, target, counting, our_names) for word in dict.fromkeys(words)]
    by_name = {counter.name: counter for counter in requests}  # two spellings can be one counter
    basic = [counter for counter in by_name.values() if not counter.is_computed]
    needs = [Need(frozenset({counter.counter} - {""}), counter.level) for counter in basic]
    passes: list[tuple[str, ...]] = []
    queue = sorted(basic, key=lambda counter: (block_of(counter.counter or counter.level), counter.name))
    for packed in pack(needs, counting.slots):  # a counter stands in the first pass that has room for it
        members = [counter for counter in queue if counter.is_in(packed)]
        queue = [counter for counter in queue if counter not in members]
        passes.append(tuple(counter.name for counter in members))
    passes += [(counter.name,) for counter in by_name.values() if counter.is_computed]
    sums = {counter.name: _accumulation(counter.level) for counter in basic if counter.level}
    notes = dict.fromkeys(filter(None, (counting.note, *(counter.note for counter in requests))))
    definitions = definitions_text(sums, target)
    return Passes(passes=tuple(filter(None, passes)), definitions=definitions, notes=tuple(notes))


def _known_counters(target: str) -> frozenset[str]:
    """The basic counters that our metrics of a target read."""
    from wavewright.facts.metrics.expression import parse
    from wavewright.facts.metrics.panels import panels_of

    metrics = [metric for panel in panels_of(target) for table in panel.tables for metric in table.metrics]
    formulas = [metric.formula for metric in metrics if metric.formula is not None]
    counters = {name for formula in formulas for name in parse(formula).counters}
    return frozenset(counters | {metric.level for metric in metrics if metric.level})


def _requested(word: str, target: str, counting: Counting, our_names: frozenset[str]) -> _RequestedCounter:
    """The counter that a word names; UsageError when the target does not have it, or cannot count it."""
    match = _NAME.fullmatch(word)
    if match is None:
        raise UsageError(f"{word[:60]!r} is not the name of a counter", advice="as SQ_WAVES or TCC_HIT_sum")
    base, reduction, instance, gpu = (match[part] or "" for part in ("base", "reduction", "instance", "gpu"))
    if base in _COMPUTED:
        return _RequestedCounter(word, note=f"{base} is computed from other counters, and has a pass of its own")
    level = base.removesuffix("_ACCUM") if base.endswith("_ACCUM") else ""
    ours = _our_name(level or base)
    if ours in counting.missing:
        what = f"rocprofv3 cannot count {ours} on {target}"
        raise UsageError(what, advice="leave it away; other counters of the block may tell the same")
    if level:
        if not counting.accumulates:
            raise UsageError(f"{target} cannot add up {level} cycle by cycle", advice="leave it away")
        return _RequestedCounter(f"{counting.spelled_raw(ours)}_ACCUM{gpu}", level=ours)
    spelled = f"{counting.spelled_raw(ours)}{reduction}{instance}{gpu}"
    _check_name(word, ours, target, counting, our_names)
    note = "" if spelled == word else f"{word} is called {spelled} on {target}"
    if not note and our_names and ours not in our_names:
        note = f"{base} is in none of our metrics: `rocprofv3-avail info --pmc {base}` tells whether {target} has it"
    return _RequestedCounter(spelled, ours, note=note)


def _our_name(name: str) -> str:
    """A counter by the name that our tables use, from the name of any target."""
    from wavewright.facts.gpus.counting import counting_of

    for ours, theirs in counting_of("gfx9").spelling.items():
        if name.startswith(theirs) and not name.startswith(ours):
            return ours + name[len(theirs) :]
    return name


def _check_name(word: str, name: str, target: str, counting: Counting, our_names: frozenset[str]) -> None:
    """Refuse a name that is of no block, or a slip; other names that no metric reads may exist all the same."""
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
    shorter, longer = sorted((name, other), key=len)
    if len(shorter) < len(longer):
        return any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))
    different_count = sum(a_letter != b_letter for a_letter, b_letter in zip(name, other, strict=True))
    return different_count == (2 if sorted(name) == sorted(other) else 1)


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
    """The command that takes the capture, and the one that shows it. `path` is the input file; None = not written."""
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
