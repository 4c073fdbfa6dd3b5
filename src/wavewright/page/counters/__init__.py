"""Questions of the page about a counter capture."""
