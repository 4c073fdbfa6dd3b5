"""`Answer`: the base of the frozen dataclasses that analyses return, with their definition and JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar

from wavewright.base.once import once
from wavewright.base.toml import packaged
from wavewright.model.display import Displayed
from wavewright.model.schema import TABLES_FILE, packaged_specs

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.model.run import Run
    from wavewright.model.schema import TableSpec
    from wavewright.model.trace import ThreadTrace

P = ParamSpec("P")
T = TypeVar("T")


class Answer(Displayed):
    """Base of the frozen dataclasses that analyses return.

    `definition` says in a sentence or two how the numbers are made; `tables` declares the columns of every field
    that is a frame, with units. Both are in `tables.toml` beside the module, and in the class what depends on its
    constants or is a table of another answer. `docs/reference/results.md` is generated from both.
    """

    definition: ClassVar[str] = ""
    tables: ClassVar[Mapping[str, TableSpec]] = {}

    def __init_subclass__(cls, *, package: str | None = None, **others: Any) -> None:
        """Add what `tables.toml` of the package `package` declares for the class of this name."""
        super().__init_subclass__(**others)
        if package is None:
            return
        cls.definition = packaged(TABLES_FILE, package)[cls.__name__].get("definition", cls.definition)
        if tables := packaged_specs(package, owner=cls.__name__):
            cls.tables = {**tables, **cls.__dict__.get("tables", {})}


_PLAIN = frozenset((int, str, bool))


def to_builtins(value: Any, *, top: int | None = None) -> Any:
    """An answer as dicts, lists, numbers and strings, for JSON.

    A frame becomes `{"row_count": n, "rows": [...]}` with at most `top` rows; None = all. An `Answer` also carries
    its `definition`. NaN and infinities become null.
    """
    if value is None or type(value) in _PLAIN:  # most values of large answers
        return value
    import polars as pl

    if isinstance(value, pl.DataFrame):
        rows = value if top is None else value.head(top)
        return {"row_count": value.height, "rows": to_builtins(rows.to_dicts())}
    if is_dataclass(value) and not isinstance(value, type):
        head = {"definition": value.definition} if isinstance(value, Answer) and value.definition else {}
        return head | {field.name: to_builtins(getattr(value, field.name), top=top) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_builtins(item, top=top) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | pl.Series):
        return [to_builtins(item, top=top) for item in value]
    if isinstance(value, float) and value - value != 0:  # not finite
        return None
    return value


def once_per_trace(analysis: Callable[Concatenate[ThreadTrace, P], T]) -> Callable[Concatenate[ThreadTrace, P], T]:
    """Decorate an analysis so that each trace computes it once per set of arguments, which must be hashable."""

    @wraps(analysis)
    def kept(trace: ThreadTrace, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (analysis.__module__, analysis.__qualname__, args, tuple(sorted(kwargs.items())))
        answer: T = once(trace.answers, key, lambda: analysis(trace, *args, **kwargs))
        return answer

    return kept


def once_per_run(analysis: Callable[Concatenate[Run, P], T]) -> Callable[Concatenate[Run, P], T]:
    """As `once_per_trace`, of a run: for small results that many answers start with."""
    return once_per_trace(analysis)  # type: ignore[arg-type, return-value]
