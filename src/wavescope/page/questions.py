"""Every question that the page may ask, by name."""

from __future__ import annotations

from wavescope.page.area import QUESTIONS as _AREA
from wavescope.page.counters.compare import QUESTIONS as _COUNTER_COMPARE
from wavescope.page.counters.diagnosis import QUESTIONS as _COUNTER_DIAGNOSIS
from wavescope.page.counters.dispatches import QUESTIONS as _COUNTER_DISPATCHES
from wavescope.page.counters.memory_chart import QUESTIONS as _MEMORY_CHART
from wavescope.page.counters.panels import QUESTIONS as _PANELS
from wavescope.page.counters.roofline import QUESTIONS as _ROOFLINE
from wavescope.page.counters.values import QUESTIONS as _COUNTER_VALUES
from wavescope.page.curves import QUESTIONS as _CURVES
from wavescope.page.gallery import QUESTIONS as _GALLERY
from wavescope.page.glossary import QUESTIONS as _GLOSSARY
from wavescope.page.overview import QUESTIONS as _OVERVIEW
from wavescope.page.run.answers import QUESTIONS as _RUN_ANSWERS
from wavescope.page.run.busy import QUESTIONS as _RUN_BUSY
from wavescope.page.run.compare import QUESTIONS as _RUN_COMPARE
from wavescope.page.run.diagnosis import QUESTIONS as _RUN_DIAGNOSIS
from wavescope.page.run.edges import QUESTIONS as _RUN_EDGES
from wavescope.page.run.events import QUESTIONS as _RUN_EVENTS
from wavescope.page.run.flame import QUESTIONS as _RUN_FLAME
from wavescope.page.run.names import QUESTIONS as _NAMES
from wavescope.page.run.path import QUESTIONS as _RUN_PATH
from wavescope.page.run.sql import QUESTIONS as _RUN_SQL
from wavescope.page.trace.answers import QUESTIONS as _ANSWERS
from wavescope.page.trace.code import QUESTIONS as _CODE
from wavescope.page.trace.compare import QUESTIONS as _COMPARE
from wavescope.page.trace.curves import QUESTIONS as _DERIVED
from wavescope.page.trace.flame import QUESTIONS as _FLAME
from wavescope.page.trace.heat_map import QUESTIONS as _HEAT_MAP
from wavescope.page.trace.histogram import QUESTIONS as _HISTOGRAM
from wavescope.page.trace.items import QUESTIONS as _ITEMS
from wavescope.page.trace.lanes import QUESTIONS as _LANES
from wavescope.page.trace.listing import QUESTIONS as _LISTING
from wavescope.page.trace.loops import QUESTIONS as _LOOPS
from wavescope.page.trace.part_costs import QUESTIONS as _PART_COSTS
from wavescope.page.trace.search import QUESTIONS as _SEARCH
from wavescope.page.trace.source import QUESTIONS as _SOURCE
from wavescope.page.trace.spans import QUESTIONS as _SPANS
from wavescope.page.trace.summary import QUESTIONS as _SUMMARY
from wavescope.page.trace.utilization import QUESTIONS as _UTILIZATION
from wavescope.page.trace.waves import QUESTIONS as _WAVES
from wavescope.page.tracks import QUESTIONS as _TRACKS

QUESTIONS = {
    question.name: question
    for group in (
        _OVERVIEW,
        _GLOSSARY,
        _GALLERY,
        _CODE,
        _LISTING,
        _LANES,
        _LOOPS,
        _PART_COSTS,
        _CURVES,
        _DERIVED,
        _HEAT_MAP,
        _HISTOGRAM,
        _SUMMARY,
        _WAVES,
        _UTILIZATION,
        _SOURCE,
        _FLAME,
        _ANSWERS,
        _COMPARE,
        _SEARCH,
        _NAMES,
        _RUN_ANSWERS,
        _RUN_BUSY,
        _RUN_COMPARE,
        _RUN_DIAGNOSIS,
        _RUN_EDGES,
        _RUN_EVENTS,
        _RUN_FLAME,
        _RUN_PATH,
        _RUN_SQL,
        _TRACKS,
        _AREA,
        _SPANS,
        _ITEMS,
        _PANELS,
        _COUNTER_DISPATCHES,
        _COUNTER_DIAGNOSIS,
        _COUNTER_COMPARE,
        _COUNTER_VALUES,
        _ROOFLINE,
        _MEMORY_CHART,
    )
    for question in group
}
