"""Samples of the GPU beside a run, which `capture --monitor` writes and readers of runs find."""

FILE = "amd-smi.jsonl"
CLOCKS = ("boottime", "monotonic", "realtime")  #: Clocks of their times, as clock_gettime names them.
