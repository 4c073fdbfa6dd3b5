"""From recordings to commands, and to what is changed for the next attempt."""
