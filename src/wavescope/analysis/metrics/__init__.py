"""What do the counters of a capture say: every metric of the panels, over the chosen dispatches?"""

from wavescope.analysis.metrics.answer import CounterPanels
from wavescope.analysis.metrics.measured import Measured, measure
from wavescope.analysis.metrics.panels import counter_panels

__all__ = ["CounterPanels", "Measured", "counter_panels", "measure"]
