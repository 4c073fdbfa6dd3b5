"""What the analyses of traces, runs and counters share."""
