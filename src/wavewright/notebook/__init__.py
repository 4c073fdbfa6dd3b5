"""Displays for notebooks: rich representations, the viewer in a cell, and a widget."""
