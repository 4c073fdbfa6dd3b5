"""Machines: what is looked at, and how programs are run there; the local forms."""
