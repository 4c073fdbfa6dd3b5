"""Judgements of rules: on which captures with a known cause a rule spoke first, and whether it was right.

Truth is what was planted, or what separate evidence says (truth.toml, run_truth.toml). A rule is judged where it speaks
first about a capture whose cause is known, and where it speaks about a twin that lacks its cause.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import wavewright
from synth.counter_capture import CounterCapture, write_counters
from synth.counter_devices import DEVICES
from synth.planted import CAUSES as TRACE_CAUSES
from synth.planted import ROOFS, plant, write_decoded, write_raw
from synth.runs import CAUSES as RUN_CAUSES
from tests.golden.judgement.test_planted import NAMES, SILENT
from tests.golden.judgement.test_real import TRUTH, allowed
from tests.kit.made_limits import limited, quiet
from tests.kit.planted_runs import opened, simulated
from tests.unit.analysis.run.test_planted_runs_diagnose import RULES
from wavewright.analysis.counters.limiters import limiters
from wavewright.analysis.run.diagnose import diagnose_run
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.readers.counters import open_counters
from wavewright.readers.run.inputs import open_run

RUN_TRUTH = tomllib.loads(Path(__file__).with_name("run_truth.toml").read_text(encoding="utf-8"))
LEAST_RIGHT = 0.9  #: Of the unseen half: below that, a rule has no voice.
LEAST_JUDGED = 3  #: Captures of the unseen half: fewer say nothing about a share of 90 %.
SEEDS = 4  #: Of planted runs.


class Judgement(NamedTuple):
    """A rule that spoke about one capture."""

    kind: str  #: Of the document: trace, run or counters.
    rule: str
    capture: str
    is_right: bool

    @property
    def is_unseen(self) -> bool:
        """The half of the captures that a capture belongs to, by its name alone: nobody chose it."""
        return hashlib.sha256(self.capture.encode()).digest()[0] % 2 == 1


class Score(NamedTuple):
    """Judgements of one rule."""

    kind: str
    rule: str
    fired: int
    right: int
    unseen_fired: int
    unseen_right: int
    left_out_fired: int  #: Captures without which it would have a voice by all others,
    left_out_right: int  #: and where it is right.

    @property
    def has_voice(self) -> bool:
        """Right in at least 90 % of the unseen half; a rule that hardly spoke there is not judged."""
        return self.unseen_fired < LEAST_JUDGED or self.unseen_right >= LEAST_RIGHT * self.unseen_fired


def judgements(shared: Path) -> Iterator[Judgement]:
    """All of them; minutes."""
    yield from _planted_traces()
    yield from _real_traces(shared)
    yield from _planted_runs()
    yield from _real_runs(shared)
    yield from _planted_counters()
    yield from _real_counters(shared)


def scores(judged: Iterable[Judgement]) -> list[Score]:
    """One row per rule, by kind and name."""
    by_rule: dict[tuple[str, str], list[Judgement]] = {}
    for each in judged:
        by_rule.setdefault((each.kind, each.rule), []).append(each)
    return [_score(*key, rows) for key, rows in sorted(by_rule.items())]


def _score(kind: str, rule: str, rows: list[Judgement]) -> Score:
    right = sum(each.is_right for each in rows)
    unseen = [each for each in rows if each.is_unseen]
    trusted = [each for each in rows if len(rows) > 1 and right - each.is_right >= LEAST_RIGHT * (len(rows) - 1)]
    counts = (len(part) for part in (unseen, trusted))
    return Score(
        *(kind, rule, len(rows), right),
        *(next(counts), sum(each.is_right for each in unseen)),
        *(next(counts), sum(each.is_right for each in trusted)),
    )


def _planted_traces() -> Iterator[Judgement]:
    for cause in TRACE_CAUSES:
        for target in ("gfx942", "gfx1201"):
            pair = plant(cause, target, "small")
            for form, write in (("decoded", write_decoded), ("raw", write_raw)):
                name = f"planted {cause} {target} {form}"
                with TemporaryDirectory() as folder:
                    opening = wavewright.open if form == "decoded" else wavewright.decode
                    found, of_twin = (
                        diagnose(opening(write(execution, Path(folder) / which))).findings
                        for which, execution in (("planted", pair.planted), ("twin", pair.twin))
                    )
                yield from _first("trace", name, [each.name for each in found], NAMES[cause])
                spoken = of_twin[:1] if cause in ROOFS else of_twin
                yield from (
                    Judgement("trace", each.name, f"{name} twin", is_right=False)
                    for each in spoken
                    if each.name in NAMES[cause] and each.gain_share_max > SILENT
                )


def _real_traces(shared: Path) -> Iterator[Judgement]:
    for entry in TRUTH["trace"]:
        path, dispatch = shared / entry["path"], entry.get("dispatch")
        if dispatch is None:
            opening = wavewright.decode if entry["path"].startswith("golden") else wavewright.open
        else:
            path, opening = path / "raw", partial(wavewright.decode, dispatch=dispatch)
        names = [each.name for each in diagnose(opening(path)).findings]
        yield from _first("trace", f"{entry['path']} {dispatch}", names, allowed(entry))


def _planted_runs() -> Iterator[Judgement]:
    for cause in RUN_CAUSES:
        for seed in range(SEEDS):
            form = ("rocpd", "kineto")[seed % 2]
            name = f"planted {cause} {seed} {form}"
            run, twin = simulated(cause, seed, 2)
            with TemporaryDirectory() as folder:
                found = diagnose_run(opened(run, Path(folder) / "run", form)).findings
                of_twin = diagnose_run(opened(twin, Path(folder) / "twin", form)).findings
            yield from _first("run", name, [each.rule for each in found], {RULES[cause]})
            yield from (Judgement("run", each.rule, f"{name} twin", is_right=False) for each in of_twin)


def _real_runs(shared: Path) -> Iterator[Judgement]:
    for entry in RUN_TRUTH["run"]:
        found = diagnose_run(open_run(shared / entry["path"])).findings
        yield from _first("run", entry["path"], [each.rule for each in found], set(entry["first"]))


def _planted_counters() -> Iterator[Judgement]:
    for target in ("gfx90a", "gfx942", "gfx950"):
        works = limited(target) | {"": quiet(DEVICES[target])}
        with TemporaryDirectory() as folder:
            write_counters(Path(folder), CounterCapture(target, tuple(works.values()), jitter=0.0))
            found = {kernel.kernel_name: kernel for kernel in limiters(open_counters(Path(folder))).kernels}
        for name, work in works.items():
            truth = {name, *RUN_TRUTH["also"].get(name, ())} - {""}
            yield from _first("counters", f"planted {name} {target}", list(found[work.name].limits), truth)


def _real_counters(shared: Path) -> Iterator[Judgement]:
    for entry in RUN_TRUTH["counters"]:
        answer = limiters(open_counters(shared / entry["path"]))
        kernel = next(each for each in answer.kernels if entry["kernel"] in each.kernel_name)
        yield from _first("counters", f"{entry['path']} {entry['kernel']}", list(kernel.limits), set(entry["first"]))


def _first(kind: str, capture: str, names: list[Any], truth: set[str]) -> Iterator[Judgement]:
    """The judgement of the rule that speaks first; silence is judged by the tests of judgement, not here."""
    if names:
        yield Judgement(kind, names[0], capture, is_right=names[0] in truth)
