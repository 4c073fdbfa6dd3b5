"""The event graph of a run: which event waited for which, its critical path, slack, and what a change gives."""

from wavewright.analysis.run.graph.change import Change
from wavewright.analysis.run.graph.event_graph import EventGraph, Prediction, combine_graph, event_graph
from wavewright.analysis.run.graph.graph_events import PartialGraph, partial_graph

__all__ = ["Change", "EventGraph", "PartialGraph", "Prediction", "combine_graph", "event_graph", "partial_graph"]
