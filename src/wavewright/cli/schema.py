"""`wavewright schema`: what can a query name?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.options import declared_command
from wavewright.cli.kit.request import Request

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.model.run import Run


@declared_command("schema")
def command(paths: tuple[str, ...], name: str | None, **form: Any) -> None:
    """List views, tables and columns."""
    from wavewright.analysis.run.contents.catalog import catalog

    request = Request(paths=paths, **form)
    answer = catalog(_run(paths), name)

    def report() -> Parts:
        from wavewright.words.run.data.catalog import catalog_report

        return catalog_report(answer, is_whole=name is None)

    request.give(answer, answer.columns, report, ())


def _run(paths: tuple[str, ...]) -> Run | None:
    from wavewright.readers.run.inputs import open_run

    return open_run(*paths) if paths else None
