"""Lines of tables look as rich's own texts do."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.kit.together import together
from wavewright.writers.terminal.texts import Line

WORDS = ["v_add", "", "  two words  ", "a kernel with a name that is far too long", "日本語 kernel", "日本語" * 9]


def shown(cell: type[Line] | None, justify: str) -> str:
    table = Table("", box=None, pad_edge=False)
    table.columns[0].justify = justify  # type: ignore[assignment]
    table.columns[0].max_width = 20
    for text in WORDS:
        table.add_row(Line(text) if cell else Text(text, no_wrap=True, overflow="ellipsis"))
    out = StringIO()
    Console(file=out, width=40).print(table)
    return out.getvalue()


@together("justify", ["left", "right", "center", "default"])
def test_as_a_text(justify: str) -> None:
    assert shown(Line, justify) == shown(None, justify)
