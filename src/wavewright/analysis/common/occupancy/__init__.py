"""Occupancy limits of registers, LDS and wave slots."""
