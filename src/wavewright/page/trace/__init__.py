"""Questions of the page about a thread trace."""
