"""Trust in a trace: coverage, consistency, source mapping, caveats."""
