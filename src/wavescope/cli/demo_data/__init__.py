"""Synthetic captures that `wavescope demo` shows, made by tools/make_demo_data.py."""
