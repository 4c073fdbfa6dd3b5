"""A plan of passes as input of rocprofv3: jobs in JSON, which every release reads and none warns about.

rocprofv3 runs the program once per job, and writes each pass into a folder of its own. Level counters added up over
time and single L2 channels have no names there: a second file defines them (`-E`, from ROCm 6.4 on).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import command_line
from wavewright.capture.plans.counter_passes import definitions, pass_names
from wavewright.capture.rocprofv3.regex import parts_regex
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.counters.plan import CapturePlan


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
