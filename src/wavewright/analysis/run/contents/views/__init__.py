"""The stable views of every run: names and columns of AMD's ROCpd views and of RPD's, whatever the format of the file.

They are made of the tables of a `Run` (`run.dispatches`, ...). Where AMD's views are wrong, these are right; each
difference is in docs/explanation/differences.md. `docs/reference/views.md` is generated from these declarations.
"""

from __future__ import annotations

from wavewright.analysis.run.contents.views.spec import ViewSpec, declared_views

_FILES = ("entities.sql", "calls.sql", "work.sql", "totals.sql", "ops.sql")

#: The views by name; each refers only to tables of a run and to earlier views.
VIEWS: dict[str, ViewSpec] = {view.name: view for file in _FILES for view in declared_views(file)}

#: Tables `run.numbered_<table>`: as `run.<table>`, with the number of the row in its process, from 1.
NUMBERED_TABLES = ("arguments", "copies", "allocations", "counters")
