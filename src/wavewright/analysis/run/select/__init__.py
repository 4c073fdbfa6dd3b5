"""The part of a run that is asked about: processes, GPUs, steps, windows."""
