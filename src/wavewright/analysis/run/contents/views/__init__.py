"""The stable views of every run: names and columns of AMD's ROCpd views and of RPD's, whatever the format of the file.

They are made of the tables of a `Run` (`run.dispatches`, ...). Where AMD's views are wrong, these are right; each
difference is in docs/explanation/differences.md. `docs/reference/views.md` is generated from these declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.analysis.run.contents.views.calls import CALLS
from wavewright.analysis.run.contents.views.entities import ENTITIES
from wavewright.analysis.run.contents.views.ops import OPS
from wavewright.analysis.run.contents.views.totals import TOTALS
from wavewright.analysis.run.contents.views.work import WORK

if TYPE_CHECKING:
    from wavewright.analysis.run.contents.views.spec import ViewSpec

#: The views by name; each refers only to tables of a run and to earlier views.
VIEWS: dict[str, ViewSpec] = {view.name: view for view in (*ENTITIES, *CALLS, *WORK, *TOTALS, *OPS)}

#: Tables `run.numbered_<table>`: as `run.<table>`, with the number of the row in its process, from 1.
NUMBERED_TABLES = ("arguments", "copies", "allocations", "counters")
