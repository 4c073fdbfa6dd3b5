"""The page about tokens is that of the declarations, and holds all of them."""

from __future__ import annotations

import re

from tools.make_token_docs import PAGE, ROOT, tokens_page


def test_the_page_is_that_of_the_declarations() -> None:
    assert PAGE.read_text("utf-8") == tokens_page(), "run tools/make_token_docs.py"


def test_every_token_and_every_field_is_there() -> None:
    page = tokens_page()
    rdna = (ROOT / "cpp/src/rdna/tokens.hpp").read_text("utf-8")
    rows = re.findall(r'\{"([01]+)", Token::(\w+)', rdna)
    assert len(rows) > 40
    for pattern, token in rows:
        assert f"| `{pattern}` | `{token}` |" in page
    for name in re.findall(r"constexpr Field (\w+) = bits?", (ROOT / "cpp/src/gfx9/tokens.hpp").read_text("utf-8")):
        assert name in ("target_cu", "double_buffer", "type") or f"| `{name}` |" in page, name
