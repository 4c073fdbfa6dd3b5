"""One quantity, one number: the share of the hottest instruction in `source`, in the report and in the heat picture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import wavewright
from wavewright.analysis.trace.listing import isa_listing
from wavewright.analysis.trace.listing.hot_code import hot_code
from wavewright.model.document import Document
from wavewright.words.trace.listing import isa_report
from wavewright.words.trace.listing.lines import IsaView
from wavewright.words.trace.pictures.heat import draw

if TYPE_CHECKING:
    from pathlib import Path

_CYCLES = 225_740 + 19_748  # latency and idle of c08, dispatch 3, by AMD's own decode


def test_the_hottest_instruction_has_one_share_of_all_cycles(shared: Path) -> None:
    path = shared / "data" / "att-mi300x-bmm" / "c08" / "raw"
    trace = wavewright.decode(path, dispatch=3)
    listing = isa_listing(trace)
    hottest = max(listing.rows["exposed_cycles_total"])
    share = f"{100 * hottest / _CYCLES:.1f} %"
    sentence = list(isa_report(listing, IsaView()))[1]
    assert f"{share} of all cycles" in str(sentence)
    answer = hot_code(trace)
    assert answer.total == _CYCLES
    assert max(answer.lines["share"]) == pytest.approx(hottest / _CYCLES)
    picture = draw(Document(0, "c08", str(path), lambda: trace), "light", None)
    texts = re.findall(r">([^<]+)<", picture.svg)
    assert any(f"{share} of all cycles" in text for text in texts)
    assert share in texts, "the same number stands beside the bar"
    assert any("exposed cycles of all cycles of the waves" in text for text in texts)
