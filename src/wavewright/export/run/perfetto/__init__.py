"""A run as a Perfetto trace (`.pftrace`), which https://ui.perfetto.dev opens."""

from __future__ import annotations

from wavewright.export.run.perfetto.writer import write_perfetto as write_perfetto
