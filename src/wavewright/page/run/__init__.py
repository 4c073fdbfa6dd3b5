"""Questions about a run."""
