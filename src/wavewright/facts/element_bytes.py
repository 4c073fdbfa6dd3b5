"""Bytes of an element by the names and numbers of types that recorders of collectives write."""

from __future__ import annotations

_BITS_8 = ("byte", "char", "bool", "int8", "uint8")
_FLOAT_8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
_RCCL_FLOAT_8 = ("float8e4m3", "float8e5m2", "fp8e4m3", "fp8e5m2")
_16 = ("half", "bfloat16", "short", "uint16", "float16")
_32 = ("float", "int", "int32", "uint32", "float32", "complexhalf")
_64 = ("double", "long", "int64", "uint64", "float64", "complexfloat")
#: By the name of PyTorch or of RCCL (without `nccl`), in lower case.
ELEMENT_BYTES: dict[str, int] = (
    dict.fromkeys((*_BITS_8, *_FLOAT_8, *_RCCL_FLOAT_8), 1)
    | dict.fromkeys(_16, 2)
    | dict.fromkeys(_32, 4)
    | dict.fromkeys(_64, 8)
    | {"complexdouble": 16}
)
RCCL_TYPE_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)  #: By the number of `ncclDataType_t`.
