"""Simulated runs of applications with ranks: exact truth about what set their time.

>>> from synth.runs import Launch, Program, Rank, Synchronise, simulate
>>> run = simulate(Program((Rank(((Launch("gemm", 50_000), Synchronise()),)),)))
>>> run.span_ns
62000
"""

from __future__ import annotations

from synth.runs.causes import CAUSES, LOADER, Planted, planted, straggler_of
from synth.runs.csv import write_csv
from synth.runs.damage import DAMAGES, gpu_clock_shifted, rank_missing, rank_twice
from synth.runs.engine import simulate
from synth.runs.events import Meeting, Memory, Region, SimulatedRun, Work
from synth.runs.hta import HTA_CASES, hta_case
from synth.runs.kineto import write_kineto
from synth.runs.program import (
    Allocate,
    Call,
    Collective,
    Copy,
    Free,
    Graph,
    Host,
    Launch,
    Machine,
    Operation,
    Program,
    Range,
    Rank,
    Record,
    Synchronise,
    Wait,
    edited,
    scaled,
)
from synth.runs.rocpd import write_rocpd
from synth.runs.rpd import write_rpd

__all__ = [
    "CAUSES",
    "DAMAGES",
    "HTA_CASES",
    "LOADER",
    "Allocate",
    "Call",
    "Collective",
    "Copy",
    "Free",
    "Graph",
    "Host",
    "Launch",
    "Machine",
    "Meeting",
    "Memory",
    "Operation",
    "Planted",
    "Program",
    "Range",
    "Rank",
    "Record",
    "Region",
    "SimulatedRun",
    "Synchronise",
    "Wait",
    "Work",
    "edited",
    "gpu_clock_shifted",
    "hta_case",
    "planted",
    "rank_missing",
    "rank_twice",
    "scaled",
    "simulate",
    "straggler_of",
    "write_csv",
    "write_kineto",
    "write_rocpd",
    "write_rpd",
]
