"""`wavewright memory`: its options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.base.bounds import BINS
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.picture import picture_options
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@click.option("--bins", type=Whole(BINS), default=64, help="Points of the curves. Default: 64.")
@picture_options
def command(request: RunRequest, bins: int, picture: PictureRequest) -> None:
    """Memory in use over time, by call site.

    \b
    wavewright memory results.db
    wavewright memory trace.json.gz -o memory.svg
    """
    from wavewright.analysis.run.memory.memory import combine_memory, partial_memory

    gathered = request.gather(partial(partial_memory, bins=bins))
    answer = combine_memory(gathered.values)

    def drawn(theme: str) -> str:
        from wavewright.words.run.memory import memory_svg

        return memory_svg(answer, theme=theme)

    def report() -> Parts:
        from wavewright.words.run.memory import memory_report

        return (*memory_report(answer, width=console().width, limit=request.limit), *picture.lines())

    picture.write(drawn)
    request.give(answer, answer.sites, report, gathered.losses, is_cut=False, inputs=gathered.paths, **picture.told)
