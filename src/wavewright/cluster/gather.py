"""Ask one question of every run, and bring home the answers and what was lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select
from wavewright.analysis.run.select.empty_filter import Unmatched, unmatched, unmatched_error
from wavewright.cluster.executor import Executor, NotSeenError, Outcome, Serial
from wavewright.errors import WavewrightError
from wavewright.model.losses import LOSSES, Loss
from wavewright.model.run import Run, run_losses
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame
from wavewright.readers.run.inputs import RunInput, open_input

#: Share of the inputs that workers may leave unread; an answer that lacks more would say little about the run.
MOST_MISSING = 0.5

Result = TypeVar("Result")


@dataclass(frozen=True)
class Gathered(Generic[Result]):
    """The answers of the runs that could be read, in the order of the inputs."""

    values: list[Result]
    inputs: list[RunInput]  #: The inputs of `values`.
    losses: pl.DataFrame  #: Rows of `Run.losses`, of all inputs; files that could not be read included.

    @property
    def paths(self) -> list[str]:
        """Names of the `inputs`: paths, or places in archives."""
        return [run_input.label for run_input in self.inputs]


@dataclass(frozen=True)
class _Asking(Generic[Result]):
    """Task of a worker: a question about one input."""

    question: Callable[[Run], Result]
    selection: RunSelection
    asked: RunSelection  #: Filters that must match something of the run; the question may apply some of them itself.
    show_secrets: bool
    #: Whether a bug of ours is told like an unreadable file, so that the other files are answered.
    is_one_of_many: bool
    is_elsewhere: bool = False  #: Whether this machine may see other files than the one that asks.

    def __call__(self, run_input: RunInput) -> _Told[Result]:
        if self.is_elsewhere:
            _check_seen(run_input)
        try:
            return self._told(run_input)
        except WavewrightError as error:
            return _Told(failure=error)
        except (Exception, pl.exceptions.PanicException) as error:
            if not self.is_one_of_many:
                raise
            problem = f"this is a bug in wavewright: {type(error).__name__}: {error}"
            return _Told(failure=WavewrightError(problem, where=run_input.label, advice="report it"))

    def _told(self, run_input: RunInput) -> _Told[Result]:
        run = Run([open_input(run_input, show_secrets=self.show_secrets)])
        nothing = unmatched(run, self.asked)
        if nothing is not None:
            return _Told(nothing=nothing)
        chosen = select(run, self.selection)
        guids = {guid for guid in chosen.read("processes", ["guid"])["guid"] if guid}
        return _Told(self.question(chosen), chosen.losses, frozenset(guids))


def _check_seen(run_input: RunInput) -> None:
    for path in (run_input.path, *run_input.files):
        if not os.access(path, os.R_OK):
            raise NotSeenError(str(path))


@dataclass(frozen=True)
class _Told(Generic[Result]):
    """Reply of a worker: an answer with the losses and runs of its file, or the error instead."""

    value: Result | None = None
    losses: pl.DataFrame | None = None
    guids: frozenset[str] = frozenset()
    failure: WavewrightError | None = None
    nothing: Unmatched | None = None  #: Why nothing of the file is chosen.


def gather(
    question: Callable[[Run], Result],
    inputs: Sequence[RunInput],
    *,
    selection: RunSelection | None = None,
    asked: RunSelection | None = None,
    executor: Executor | None = None,
    done: Callable[[], None] = lambda: None,
    show_secrets: bool = False,
    most_missing: float = MOST_MISSING,
) -> Gathered[Result]:
    """The answers of `question` for each input; what cannot be read is a loss, and the rest is delivered.

    A run that is in several inputs counts once. `question` and its answers can be pickled. Paths that other machines
    are given are absolute, and stay so in the answer. Inputs without anything that `asked` (None = the selection) names
    are left out. Raises `UsageError` when no input has anything that `asked` names; `WavewrightError` when no input
    could be read: the error of the first; when workers left more than the share `most_missing` of several inputs
    unread.
    """
    runner = executor or Serial()
    if runner.is_elsewhere:
        inputs = [run_input.absolute() for run_input in inputs]
    chosen = selection or RunSelection()
    asking = _Asking(question, chosen, asked or chosen, show_secrets, len(inputs) > 1, is_elsewhere=runner.is_elsewhere)
    told_by_workers = runner.run(asking, inputs, done)
    _refuse_missing(inputs, told_by_workers, most_missing)
    outcomes = _without_repeats(asking, inputs, told_by_workers)
    values, read_inputs, losses = [], [], [empty_frame(RUN["losses"])]
    for run_input, (outcome, repeated_guids) in zip(inputs, outcomes, strict=True):
        result = outcome.value
        if result is None:
            losses.append(
                run_losses([Loss("lost_worker", detail=f"{run_input.label}: {outcome.lost}")], run_input.label)
            )
        elif result.failure is not None:
            losses.append(run_losses([Loss("unreadable_source", detail=str(result.failure))], run_input.label))
        elif result.losses is not None:
            losses.append(result.losses)
        losses += [run_losses([Loss("duplicate_run", detail=guid)], run_input.label) for guid in sorted(repeated_guids)]
        if result is not None and result.failure is None and result.value is not None:
            values.append(result.value)
            read_inputs.append(run_input)
    if inputs and not values:
        raise _nothing_chosen(inputs, outcomes) or _first_failure(inputs, outcomes)
    return Gathered(values, read_inputs, pl.concat(losses))


def _refuse_missing(
    inputs: Sequence[RunInput], outcomes: Sequence[Outcome[_Told[Result]]], most_missing: float
) -> None:
    """Raise when workers left too many of several inputs unread."""
    unread_inputs = [(run_input, outcome) for run_input, outcome in zip(inputs, outcomes, strict=True) if outcome.lost]
    if len(inputs) > 1 and len(unread_inputs) > most_missing * len(inputs):
        (run_input, outcome), count = unread_inputs[0], len(inputs)
        problem = f"{len(unread_inputs):,} of {count:,} inputs were not read; this one: {outcome.lost}"
        advice = "workers must live and see the files at these paths; --max-missing PERCENT takes less for an answer"
        read_part = f"{count - len(unread_inputs):,} inputs"
        raise WavewrightError(problem, where=run_input.label, kept=read_part, advice=advice)


def _nothing_chosen(
    inputs: Sequence[RunInput], outcomes: Sequence[tuple[Outcome[_Told[Result]], frozenset[str]]]
) -> WavewrightError | None:
    """The error when the files that could be read have nothing of what is asked for."""
    parts = [outcome.value.nothing for outcome, _ in outcomes if outcome.value and outcome.value.nothing]
    return unmatched_error(parts, where=inputs[0].label if len(inputs) == 1 else "") if parts else None


def _first_failure(
    inputs: Sequence[RunInput], outcomes: Sequence[tuple[Outcome[_Told[Result]], frozenset[str]]]
) -> WavewrightError:
    """The error to raise when there is no answer at all."""
    for run_input, (outcome, _) in zip(inputs, outcomes, strict=True):
        if outcome.value is None:
            return WavewrightError(outcome.lost, where=run_input.label, advice=LOSSES["lost_worker"].advice)
        if outcome.value.failure is not None:
            return outcome.value.failure
    return WavewrightError("nothing was read", where=inputs[0].label)


def _without_repeats(
    asking: _Asking[Result], inputs: Sequence[RunInput], outcomes: Sequence[Outcome[_Told[Result]]]
) -> list[tuple[Outcome[_Told[Result]], frozenset[str]]]:
    """The outcomes, asked again without the runs that an earlier input holds too, and which those are."""
    known_guids: set[str] = set()
    unique = []
    for run_input, outcome in zip(inputs, outcomes, strict=True):
        result = outcome.value
        repeated_guids = result.guids & known_guids if result else frozenset()
        if result and repeated_guids:
            known_guids |= result.guids
            if repeated_guids == result.guids:
                outcome = Outcome(_Told[Result](losses=result.losses))
            else:
                narrower = replace(asking.selection, without_guids=(*asking.selection.without_guids, *repeated_guids))
                outcome = Outcome(replace(asking, selection=narrower, is_elsewhere=False)(run_input))
        elif result:
            known_guids |= result.guids
        unique.append((outcome, repeated_guids))
    return unique
