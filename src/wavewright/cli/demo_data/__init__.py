"""Synthetic captures that `wavewright demo` shows, made by tools/make_demo_data.py."""
