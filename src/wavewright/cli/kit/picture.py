"""The picture that a verb writes beside its answer: file and colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wavewright.model.blocks import Sentence


@dataclass(frozen=True)
class PictureRequest:
    """A picture that the user asked for, or none."""

    output: Path | None
    theme: str
    force: bool

    def check(self) -> None:
        """Refuse what cannot be written before anything is computed.

        Raises `UsageError` when the name is not that of a picture, or there is no name to go with --theme and --force;
        `MissingToolError` when PNG cannot be drawn here.
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
        """Lines of text about it."""
        from wavewright.model.blocks import Sentence

        if self.output is not None:
            yield Sentence(f"wrote {printable(str(self.output))}")

    @property
    def told(self) -> dict[str, str]:
        """Keys of JSON about it."""
        return {} if self.output is None else {"output": str(self.output)}


def picture_request(options: dict[str, Any]) -> PictureRequest:
    """The picture that -o, --theme and --force ask for, which are taken out."""
    return PictureRequest(options.pop("output"), options.pop("theme"), options.pop("force"))
