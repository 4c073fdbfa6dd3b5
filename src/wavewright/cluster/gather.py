"""Asks one question about each of many runs, and collects the answers and the losses."""

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

MOST_MISSING = 0.5  #: Share of the inputs that may stay unread because their workers died or saw no files.

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
    """The task of a worker: the question about one input."""

    question: Callable[[Run], Result]
    selection: RunSelection
    asked: RunSelection  #: Filters that must match something of the run; the question may apply some of them itself.
    show_secrets: bool
    is_one_of_many: bool  #: Whether a bug of ours counts as an unreadable file, so that other files are answered.
    is_elsewhere: bool = False  #: Whether this machine may see other files than the asking one.

    def __call__(self, run_input: RunInput) -> _Reply[Result]:
        if self.is_elsewhere:
            for path in (run_input.path, *run_input.files):
                if not os.access(path, os.R_OK):
                    raise NotSeenError(str(path))
        try:
            return self._reply(run_input)
        except WavewrightError as error:
            return _Reply(failure=error)
        except (Exception, pl.exceptions.PanicException) as error:
            if not self.is_one_of_many:
                raise
            problem = f"this is a bug in wavewright: {type(error).__name__}: {error}"
            return _Reply(failure=WavewrightError(problem, where=run_input.label, advice="report it"))

    def _reply(self, run_input: RunInput) -> _Reply[Result]:
        run = Run([open_input(run_input, show_secrets=self.show_secrets)])
        mismatch = unmatched(run, self.asked)
        if mismatch is not None:
            return _Reply(mismatch=mismatch)
        chosen = select(run, self.selection)
        guids = {guid for guid in chosen.read("processes", ["guid"])["guid"] if guid}
        return _Reply(self.question(chosen), chosen.losses, frozenset(guids))


@dataclass(frozen=True)
class _Reply(Generic[Result]):
    """The reply of a worker: an answer with the losses and runs of its file, or the reason why there is none."""

    value: Result | None = None
    losses: pl.DataFrame | None = None
    guids: frozenset[str] = frozenset()
    failure: WavewrightError | None = None
    mismatch: Unmatched | None = None  #: The filters that match nothing in the file.


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
    """The answers of `question` for each input; inputs that cannot be read become losses.

    A run that is in several inputs counts once. `question` and its answers must be picklable. Other machines get
    absolute paths, which also appear in the result. Inputs in which `asked` (None = `selection`) matches nothing are
    left out. Raises `UsageError` when it matches nothing in any input; `WavewrightError` when no input could be read
    (the error of the first), or workers left more than the share `most_missing` of several inputs unread.
    """
    runner = executor or Serial()
    if runner.is_elsewhere:
        inputs = [run_input.absolute() for run_input in inputs]
    chosen = selection or RunSelection()
    asking = _Asking(question, chosen, asked or chosen, show_secrets, len(inputs) > 1, is_elsewhere=runner.is_elsewhere)
    replies = runner.run(asking, inputs, done)
    _refuse_missing(inputs, replies, most_missing)
    outcomes = _without_repeats(asking, inputs, replies)
    values, read_inputs, losses = [], [], [empty_frame(RUN["losses"])]
    for run_input, (outcome, repeated_guids) in zip(inputs, outcomes, strict=True):
        reply, own_losses = outcome.value, []
        if reply is None:
            own_losses.append(Loss("lost_worker", detail=f"{run_input.label}: {outcome.lost}"))
        elif reply.failure is not None:
            own_losses.append(Loss("unreadable_source", detail=str(reply.failure)))
        elif reply.losses is not None:
            losses.append(reply.losses)
        own_losses += [Loss("duplicate_run", detail=guid) for guid in sorted(repeated_guids)]
        losses += [run_losses([loss], run_input.label) for loss in own_losses]
        if reply is not None and reply.value is not None:
            values.append(reply.value)
            read_inputs.append(run_input)
    if inputs and not values:
        raise _no_answer(inputs, [outcome for outcome, _ in outcomes])
    return Gathered(values, read_inputs, pl.concat(losses))


def _refuse_missing(
    inputs: Sequence[RunInput], outcomes: Sequence[Outcome[_Reply[Result]]], most_missing: float
) -> None:
    """Raise `WavewrightError` when workers left too many of several inputs unread."""
    unread = [(run_input, outcome.lost) for run_input, outcome in zip(inputs, outcomes, strict=True) if outcome.lost]
    if len(inputs) > 1 and len(unread) > most_missing * len(inputs):
        run_input, reason = unread[0]
        problem = f"{len(unread):,} of {len(inputs):,} inputs were not read; this one: {reason}"
        advice = "workers must live and see the files at these paths; --max-missing PERCENT takes less for an answer"
        read_part = f"{len(inputs) - len(unread):,} inputs"
        raise WavewrightError(problem, where=run_input.label, kept=read_part, advice=advice)


def _no_answer(inputs: Sequence[RunInput], outcomes: Sequence[Outcome[_Reply[Result]]]) -> WavewrightError:
    """The error without any answer: the filters matched nothing in the readable files, else the first failure."""
    mismatches = [outcome.value.mismatch for outcome in outcomes if outcome.value and outcome.value.mismatch]
    if mismatches:
        return unmatched_error(mismatches, where=inputs[0].label if len(inputs) == 1 else "")
    for run_input, outcome in zip(inputs, outcomes, strict=True):
        if outcome.value is None:
            return WavewrightError(outcome.lost, where=run_input.label, advice=LOSSES["lost_worker"].advice)
        if outcome.value.failure is not None:
            return outcome.value.failure
    return WavewrightError("nothing was read", where=inputs[0].label)


def _without_repeats(
    asking: _Asking[Result], inputs: Sequence[RunInput], outcomes: Sequence[Outcome[_Reply[Result]]]
) -> list[tuple[Outcome[_Reply[Result]], frozenset[str]]]:
    """The outcomes without runs that an earlier input has, and the ids of these; partial repeats are read again."""
    known_guids: set[str] = set()
    unique = []
    for run_input, outcome in zip(inputs, outcomes, strict=True):
        guids = outcome.value.guids if outcome.value else frozenset()
        repeated_guids = guids & known_guids
        known_guids |= guids
        if outcome.value and repeated_guids == guids and guids:
            outcome = Outcome(_Reply[Result](losses=outcome.value.losses))
        elif repeated_guids:
            narrower = replace(asking.selection, without_guids=(*asking.selection.without_guids, *repeated_guids))
            outcome = Outcome(replace(asking, selection=narrower, is_elsewhere=False)(run_input))
        unique.append((outcome, repeated_guids))
    return unique
