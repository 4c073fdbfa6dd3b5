"""The derived counters that every trace with the right counters has."""

from __future__ import annotations

_UTILIZATION = """\
# Share of the peak in per cent: what all CUs do in a step, against the most busy cycles of each CU in any step.
_reduce_busy := sum[(max[BUSY_CU_CYCLES, axis=TIME]), axis=[XCC, SE, CU]] + 1e-6
MISC_util := 100 * sum[ACTIVE_INST_MISC, axis=[XCC, SE, CU]] / _reduce_busy
SCA_util := 100 * sum[ACTIVE_INST_SCA, axis=[XCC, SE, CU]] / _reduce_busy
FLAT_util := 200 * sum[ACTIVE_INST_FLAT, axis=[XCC, SE, CU]] / _reduce_busy
LDS_util := 200 * sum[ACTIVE_INST_LDS, axis=[XCC, SE, CU]] / _reduce_busy
VMEM_util := 200 * sum[ACTIVE_INST_VMEM, axis=[XCC, SE, CU]] / _reduce_busy
VALU_util := 100 * sum[ACTIVE_INST_VALU, axis=[XCC, SE, CU]] / _reduce_busy
MFMA_util := 100 * sum[VALU_MFMA_BUSY_CYCLES, axis=[XCC, SE, CU]] / _reduce_busy / 4
_mfma := MFMA_util / 100
_math := min(MFMA_util + VALU_util * (1 - _mfma) / (1.7 - _mfma), 100)
GPUutil := max(LDS_util, VMEM_util, FLAT_util, _math)
"""

_CLOCK = """\
# Shader clock from the first and the last realtime pair, and the time of one step.
SHADER_MHZ := SCLOCK_MHZ
_step_seconds := STEP_CYCLES / SHADER_MHZ / 1e6
"""

_FORMATS = ("I8", "F8", "F16", "BF16", "F32", "F64", "XF32", "F6F4")
_TFLOPS = "".join(
    f"{name}_TFLOPS := 512e-12 * sum[INSTS_VALU_MFMA_MOPS_{name}, axis=[XCC, SE, CU]] / _step_seconds\n"
    for name in _FORMATS
)

BUILTIN = _UTILIZATION + _CLOCK + _TFLOPS
