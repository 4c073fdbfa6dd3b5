"""The report of the verbs that write runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from wavewright.base.words import counted, size
from wavewright.facts.loader import packaged
from wavewright.model.blocks import AnyBlock, Sentence, sentence
from wavewright.words.kit.declared_tables import declared_table

#: Counts that are printed, and their nouns.
_WORDS: dict[str, str] = packaged("texts.toml", "wavewright.words.run")["written"]
_SHOWN, _MANY_FILES = 6, 40  #: Counts of an output, and outputs, that are shown.


def written_report(outputs: Sequence[Mapping[str, Any]]) -> Iterator[AnyBlock]:
    """Outputs (`path`, `bytes`, `counts`), at least one: two lines for one, a table for several."""
    if len(outputs) == 1:
        only = outputs[0]
        yield sentence((only["path"], "bold"), f": {size(only['bytes'])}")
        yield Sentence(f"  {_contents(only['counts'])}")
        return
    title = f"{size(sum(output['bytes'] for output in outputs))} written"
    rows = [{"path": out["path"], "size": out["bytes"], "contents": _contents(out["counts"])} for out in outputs]
    yield declared_table("run/data_output_files/written", pl.DataFrame(rows), limit=_MANY_FILES, title=title)


def _contents(counts: Mapping[str, int]) -> str:
    """The largest counts first."""
    named = {name: count for name, count in counts.items() if name in _WORDS}
    shown = [(name, count) for name, count in (named or counts).items() if count]
    ordered = sorted(shown, key=lambda item: (-item[1], item[0]))[:_SHOWN]
    words = (counted(count, _WORDS[name]) if name in _WORDS else f"{count:,} {name}" for name, count in ordered)
    return ", ".join(words) or "no events"
