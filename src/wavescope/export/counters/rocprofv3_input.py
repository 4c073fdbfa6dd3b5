"""A plan of passes as input of rocprofv3: a text file of `pmc:` lines, or jobs in YAML or JSON; and what goes with it.

rocprofv3 tells the form of an input by its extension, runs the program once per `pmc:` line or job, and writes each
pass into a folder of its own. Level counters added up over time and single L2 channels have no names there: a second
file defines them (`-E`).
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavescope.base.words import counted
from wavescope.errors import UsageError
from wavescope.export.kit.staging import staged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.analysis.counters.plan import CapturePlan

FORMS = ("txt", "yaml", "json")
_SUFFIXES = {".txt": "txt", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
_SPECIAL = r"^$\.*+?()[]{}|"
_ACCUMULATED = re.compile(r"(\w+)_ACCUM")


def input_text(plan: CapturePlan, form: str = "txt", *, kernels: Sequence[str] = (), name: str = "") -> str:
    """The input file in one of FORMS, with comments where the form has them; `kernels` are parts of names."""
    if form == "txt":
        return "\n".join([*_comments(plan, form, kernels, name), *_text_lines(plan), ""])
    jobs = [_job(names, kernels) for names in _pass_names(plan).values()]
    if form == "json":
        return json.dumps({"jobs": jobs}, indent=2) + "\n"
    lines = [*_comments(plan, form, kernels, name), "jobs:" if jobs else "jobs: []"]
    for job in jobs:
        lines.append("  - pmc:")
        lines += [f"      - {json.dumps(counter)}" for counter in job.pop("pmc")]
        lines += [f"    {key}: {json.dumps(value)}" for key, value in job.items()]
    return "\n".join([*lines, ""])


def definitions(plan: CapturePlan) -> str:
    """The counters that have to be defined (`rocprofv3 -E`), as YAML; empty when there are none."""
    by_name = {}
    for row in plan.counters.iter_rows(named=True):
        match = _ACCUMULATED.fullmatch(row["spelled"])
        if match:
            by_name[row["spelled"]] = f"accumulate({match[1]}, HIGH_RES)"
        for channel in range(plan.channel_count if row["has_channels"] else 0):
            raw = row["spelled"].removesuffix("_sum")
            xcd, instance = divmod(channel, plan.channels_per_xcd)
            by_name[f"{raw}[{channel}]"] = f"select({raw},[DIMENSION_XCC=[{xcd}], DIMENSION_INSTANCE=[{instance}]])"
    if not by_name:
        return ""
    lines = ["rocprofiler-sdk:", "  counters-schema-version: 1", "  counters:"]
    for counter, expression in by_name.items():
        lines += [
            f"    - name: {json.dumps(counter)}",
            f"      description: {json.dumps(expression)}",
            "      properties: []",
            "      definitions:",
            f"        - architectures: [{plan.target}]",
            f"          expression: {json.dumps(expression)}",
        ]
    return "\n".join([*lines, ""])


def commands(plan: CapturePlan, form: str = "txt", *, kernels: Sequence[str] = (), name: str = "") -> tuple[str, str]:
    """How to take the capture, and how to look at it. `name` is the input file."""
    path = Path(name or f"counters.{form}")
    words = ["rocprofv3", "-i", str(path)]
    if definitions(plan):
        words += ["-E", str(_beside(path))]
    if kernels and form == "txt":
        words += ["--kernel-include-regex", _regex(kernels)]
    words += ["--output-format", "csv", "-d", "capture", "--", "./program"]
    return shlex.join(words), "wavescope counters capture"


def write_input(plan: CapturePlan, path: Path, *, kernels: Sequence[str] = (), force: bool = False) -> list[Path]:
    """Write the input file, and beside it the definitions if there are any; the extension tells the form.

    Raises
    ------
    UsageError
        When rocprofv3 would not know the extension, or a file exists and `force` is not set.
    """
    form = _SUFFIXES.get(path.suffix.lower())
    if form is None:
        what = "rocprofv3 knows the form of an input by its extension"
        raise UsageError(what, where=str(path), advice=f"let it end in {', '.join(_SUFFIXES)}")
    texts = {path: input_text(plan, form, kernels=kernels, name=str(path))}
    if extra := definitions(plan):
        texts[_beside(path)] = extra
    with staged(list(texts), force=force) as twins:
        for twin, text in zip(twins, texts.values(), strict=True):
            twin.write_text(text, encoding="utf-8")
    return list(texts)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.counters.yaml")


def _pass_names(plan: CapturePlan) -> dict[int, list[str]]:
    """Pass -> names for the collector, in order."""
    names: dict[int, list[str]] = {}
    for row in plan.counters.iter_rows(named=True):
        counters = names.setdefault(row["pass"], [])
        counters.append(row["spelled"])
        if row["has_channels"]:
            raw = row["spelled"].removesuffix("_sum")
            counters += [f"{raw}[{channel}]" for channel in range(plan.channel_count)]
    return names


def _job(names: list[str], kernels: Sequence[str]) -> dict[str, Any]:
    job: dict[str, Any] = {"pmc": names}
    return job | ({"kernel_include_regex": _regex(kernels)} if kernels else {})


def _regex(kernels: Sequence[str]) -> str:
    """Matches names that contain one of the texts, whether the collector searches or matches the whole.

    What cannot be printed is any character: it would end a comment or steer the terminal.
    """
    parts = ["".join(_matching(letter) for letter in name) for name in kernels]
    return f".*({'|'.join(parts)}).*"


def _matching(letter: str) -> str:
    return "." if not letter.isprintable() else f"\\{letter}" if letter in _SPECIAL else letter


def _text_lines(plan: CapturePlan) -> list[str]:
    lines = []
    measured = plan.metrics.filter(plan.metrics["pass"].is_not_null())
    for number, names in _pass_names(plan).items():
        level = plan.passes["level"][number - 1]
        ids = measured.filter(measured["pass"] == number)["metric_id"].unique(maintain_order=True).to_list()
        about = f", about {level}" if level else ""
        lines += [
            "",
            f"# pass {number}{about}: completes {_some(ids) or 'no metric by itself'}",
            f"pmc: {' '.join(names)}",
        ]
    return lines


def _comments(plan: CapturePlan, form: str, kernels: Sequence[str], name: str) -> list[str]:
    run, look = commands(plan, form, kernels=kernels, name=name)
    lines = [f"{summary(plan)}, as planned by wavescope", f"capture: {run}", f"look:    {look}", *remarks(plan)]
    if definitions(plan) and not name:
        path = Path(f"counters.{form}")
        lines.append(
            f"{_beside(path)} defines sums of levels and single channels: `wavescope ... -o {path}` writes both"
        )
    return [f"# {line}" for line in lines]


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
        ids = _some(list(spread["metric_id"]))
        lines.append(f"from several passes, as a block cannot count so much at once: {ids}")
    for reason, group in metrics.filter(~metrics["is_measured"]).group_by("reason", maintain_order=True):
        lines.append(f"not measured, {reason[0]}: {_some(list(group['metric_id'].unique(maintain_order=True)))}")
    return lines


def _some(ids: Sequence[str], limit: int = 12) -> str:
    return ", ".join(ids[:limit]) + (f" and {len(ids) - limit} more" if len(ids) > limit else "")
