"""What do the counters of a capture say: every metric of the panels, over the chosen dispatches?"""

from wavescope.analysis.counters.engine.answer import CounterPanels
from wavescope.analysis.counters.engine.measured import Measured, measure
from wavescope.analysis.counters.engine.panels import counter_panels

__all__ = ["CounterPanels", "Measured", "counter_panels", "measure"]
