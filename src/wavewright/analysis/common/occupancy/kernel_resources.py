"""Resources of a kernel as it was compiled."""

from __future__ import annotations

import math

from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.codeobj.code_object import Kernel


def resources_of(kernel: Kernel, override: Resources) -> Resources:
    """Resources of a kernel of a code object, as its metadata has them; `override` wins."""
    required = kernel.workgroup_size_required
    size = override.workgroup_size or (math.prod(required) if required else kernel.workgroup_size_max)
    return Resources(
        vgprs=override.vgprs if override.vgprs is not None else kernel.vgprs,
        agprs=override.agprs or (kernel.agprs or 0 if override.vgprs is None else 0),
        sgprs=override.sgprs if override.sgprs is not None else kernel.sgprs,
        lds_bytes=override.lds_bytes if override.lds_bytes is not None else kernel.lds_bytes,
        workgroup_size=size,
        wave_size=override.wave_size or kernel.wave_size,
    )
