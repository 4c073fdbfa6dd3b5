"""`wavewright capture recipe`: what to set and how to call it, per framework."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.shown import quoted
from wavewright.cli.kit.capture import ProgramCommand, program_of
from wavewright.cli.kit.io import emit_json, json_option
from wavewright.cli.kit.taking import show
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from wavewright.capture.recipes import Recipe


@click.command(cls=ProgramCommand)
@click.argument("name", required=False)
@click.option("--list", "lists", is_flag=True, help="All recipes, one line each.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a jobs file for `capture pool`.",
)
@click.option("--force", is_flag=True, help="Replace FILE.")
@json_option
def command(name: str | None, lists: bool, output: Path | None, force: bool, as_json: bool) -> None:
    """What to set, how to call it and what to beware of, for torch, triton, vllm, hip, flydsl, mpi.

    Prints the command, the variables and the advice, or writes a jobs file for `capture pool`. A program behind `--`
    takes the place of the example's.

    \b
    wavewright capture recipe triton -- python bench.py
    wavewright capture recipe vllm -o jobs.toml
    """
    from wavewright.capture.recipes import recipe, recipes

    if lists or name is None:
        if output is not None:
            raise UsageError("which recipe is to be written?", advice=f"one of {', '.join(recipes())}")
        _list(list(recipes().values()), as_json=as_json)
        return
    chosen = recipe(name)
    program = program_of(click.get_current_context())
    if output is not None:
        _write(chosen, program, output, force=force)
    if as_json:
        emit_json({"recipe": _as_json(chosen, program), "output": None if output is None else str(output)})
    elif output is None:
        from wavewright.report.capture.recipe import recipe_report

        show(lambda width: recipe_report(chosen, program, width=width))
    else:
        click.echo(f"wrote {output}: look through it, then run wavewright capture pool {quoted(output)}")


def _write(chosen: Recipe, program: tuple[str, ...], output: Path, *, force: bool) -> None:
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(chosen.jobs_file(program))
    except FileExistsError:
        raise UsageError("the file exists", where=str(output), advice="--force replaces it") from None
    except OSError as error:
        raise OutputError(f"cannot write the jobs file: {error.strerror}", where=str(output)) from error


def _list(every: list[Recipe], *, as_json: bool) -> None:
    if as_json:
        emit_json({"recipes": [{"name": each.name, "title": each.title, "summary": each.summary} for each in every]})
        return
    from wavewright.report.capture.recipe import recipes_report

    show(lambda width: recipes_report(every))


def _as_json(chosen: Recipe, program: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": chosen.name,
        "title": chosen.title,
        "summary": chosen.summary,
        "command": chosen.line(program),
        "variables": [
            {"name": each.name, "value": each.value, "is_fresh_folder": each.is_fresh_folder, "why": each.why}
            for each in chosen.variables
        ],
        "advice": list(chosen.advice),
    }
