"""From what is wanted to commands, and to what is changed for the next attempt."""
