"""Recipes for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wavewright.report.capture.rows import row
from wavewright.report.capture.shell import shell_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavewright.capture.recipes import Recipe


def recipe_report(recipe: Recipe, program: tuple[str, ...] = (), *, width: int) -> Iterator[RenderableType]:
    """One recipe: the commands, what is set and why, and what to beware of."""
    yield Text(f"{recipe.title}: {recipe.summary}", style="bold")
    yield Text()
    for kind, what in (("discover", "which kernels there are"), (recipe.kind, "the capture")):
        yield Text(f"# {what}", style="dim")
        yield shell_text(recipe.words(program, kind), width, indent="")
    yield Text()
    for variable in recipe.variables:
        value = "a fresh folder" if variable.is_fresh_folder else variable.value
        yield row("set", f"{variable.name} = {value}: {variable.why}")
    for advice in recipe.advice:
        yield row("note", advice)


def recipes_report(recipes: Sequence[Recipe]) -> Iterator[RenderableType]:
    """All recipes, one line each."""
    width = max(len(recipe.name) for recipe in recipes)
    for recipe in recipes:
        yield row(recipe.name.ljust(width), f"{recipe.title}: {recipe.summary}")
