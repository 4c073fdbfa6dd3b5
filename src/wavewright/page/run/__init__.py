"""Questions of the page about a run."""
