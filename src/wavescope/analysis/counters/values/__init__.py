"""What are the metrics of each kernel, or of each dispatch, and which dispatches are not like the others?"""

from wavescope.analysis.counters.values.answer import MetricValues
from wavescope.analysis.counters.values.evaluated import metric_values
from wavescope.analysis.counters.values.raw import raw_values

__all__ = ["MetricValues", "metric_values", "raw_values"]
