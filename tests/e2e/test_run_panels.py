"""Views of runs about collectives, launches and memory: they show what the command line prints."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.cli.in_process import call
from tests.e2e.run_inputs import made_ranks
from tests.e2e.test_runs import nanoseconds, small

#: Verb, which is also the id of the view -> table of its JSON, label on the page, columns.
PANELS = {
    "collectives": ("collectives", "Collectives", ("calls", "communication_ns", "wait_ns")),
    "launches": ("functions", "Launches by call", ("launch_count", "call_total_ns", "delay_median_ns")),
    "memory": ("places", "Memories", ("allocation_count", "peak_ns")),
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", PANELS)
def test_a_panel_has_the_numbers_and_the_verdict_of_its_verb(page, serve, verb):
    table, label, columns = PANELS[verb]
    truth = json.loads(call(verb, made_ranks(), "--json").stdout)
    rows = truth[table]["rows"] if isinstance(truth[table], dict) else truth[table]
    assert rows
    page.goto(serve(made_ranks()).url + f"#layout=t({verb};0)")
    view = page.locator(f'[data-view="{verb}"]')
    expect(view.locator("[data-verdict]")).to_have_text(call(verb, made_ranks()).stdout.splitlines()[0])
    for column in columns:
        look = nanoseconds if column.endswith("_ns") else "{:,}".format
        assert small(view, label, column) == [look(row[column]) for row in rows[:12]]
