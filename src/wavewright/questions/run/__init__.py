"""Questions about runs."""
