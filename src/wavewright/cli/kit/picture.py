"""What the verbs that draw have in common: where the picture goes, and in which colours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import with_options
from wavewright.errors import UsageError
from wavewright.model.blocks import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wavewright.cli.kit.counters import CounterRequest


@dataclass(frozen=True)
class PictureRequest:
    """A picture that the user asked for, or none."""

    output: Path | None
    theme: str
    force: bool

    def check(self) -> None:
        """Refuse what cannot be written before anything is computed.

        Raises
        ------
        UsageError
            When the name is not that of a picture, or there is no name to go with --theme and --force.
        MissingToolError
            When PNG cannot be drawn here.
        """
        if self.output is not None:
            from wavewright.export.kit.picture import check_picture

            check_picture(self.output)
        elif self.theme != "auto" or self.force:
            what = "--theme and --force are about a picture, and none is written"
            raise UsageError(what, advice="give its name with -o FILE.svg")

    def write(self, drawn: Callable[[str], str]) -> None:
        """Write what `drawn` makes for the theme, if a picture is asked for."""
        if self.output is not None:
            from wavewright.export.kit.picture import write_picture

            write_picture(drawn(self.theme), self.output, force=self.force)

    def lines(self) -> Iterator[Sentence]:
        """What text says about it."""

        from wavewright.base.shown import printable

        if self.output is not None:
            yield Sentence(f"wrote {printable(str(self.output))}")

    @property
    def told(self) -> dict[str, str]:
        """What JSON says about it."""
        return {} if self.output is None else {"output": str(self.output)}


def picture_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb about counters -o, --theme and --force, handed on as one `PictureRequest`, which is checked."""

    @wraps(verb)
    def run(request: CounterRequest, *, output: Path | None, theme: str, force: bool, **rest: Any) -> None:
        picture = PictureRequest(output, theme, force)
        picture.check()
        verb(request, picture=picture, **rest)

    return with_options(run, _OPTIONS)


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write a picture: FILE.svg, or FILE.png with the extra [plot].",
    ),
    click.option(
        "--theme",
        type=click.Choice(["auto", "light", "dark"]),
        default="auto",
        help="Colours of the picture; auto = dark where the viewer prefers it (PNG: light).",
    ),
    click.option("--force", is_flag=True, help="Replace FILE if it exists."),
)
