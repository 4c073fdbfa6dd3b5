"""Facts per GPU target: registers, LDS, waves, peaks, declared in TOML with their sources; unknown facts are None."""

from wavewright.facts.gpus.facts import TARGETS as TARGETS
from wavewright.facts.gpus.facts import Arch as Arch
from wavewright.facts.gpus.facts import of as of
