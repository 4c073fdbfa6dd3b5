"""The metrics engine: every metric of the panels over the selected dispatches."""
