"""Facts per GPU target: registers, LDS, waves, peaks, declared in TOML with their sources; unknown facts are None."""

from wavescope.facts.gpus.facts import TARGETS, Arch, Product, of

__all__ = ["TARGETS", "Arch", "Product", "of"]
