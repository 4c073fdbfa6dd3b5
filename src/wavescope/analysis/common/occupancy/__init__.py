"""How many waves fit: limits of registers, LDS and wave slots."""
