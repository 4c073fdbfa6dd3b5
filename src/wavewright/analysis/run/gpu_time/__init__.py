"""Where the time of GPUs went."""
