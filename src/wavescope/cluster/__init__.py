"""Many files: one question asked of each, by processes of this machine or by a Dask cluster, and what came back."""

from wavescope.cluster.choosing import executor_for
from wavescope.cluster.executor import Executor, Outcome
from wavescope.cluster.gather import Gathered, gather

__all__ = ["Executor", "Gathered", "Outcome", "executor_for", "gather"]
