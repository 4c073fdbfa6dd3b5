"""How far a trace can be trusted."""
