"""Questions about a thread trace."""
