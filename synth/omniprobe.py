"""Synthetic outputs of Omniprobe, as its MemoryAnalysis and AddressLogger spell them, with their faults.

The faults are its own: JSON arrays are not closed, strings are not escaped, CSV and JSON lines alternate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.random_numbers import seeded

_WORDS = {"read": "read", "write": "write", "read_write": "read/write", None: "unspecified memory operation"}
_OPERATIONS = {"read": "read", "write": "write", "read_write": "readwrite", None: "undefined"}
_NUMBERS = {None: 0, "read": 1, "write": 2, "read_write": 3}
UNKNOWN_FILE = "<unknown source file>"
CSV_HEADER = "ADDRESS_MESSAGE,timestamp,kernel,src_line,dispatch,exec_mask,xcc_id,se_id,cu_id,kind,address"


@dataclass(frozen=True)
class ProbedAccess:
    """One location; with `bank_conflicts` it is an access to LDS, otherwise to memory."""

    file: str | None
    line: int
    column: int
    kind: str | None = "read"
    execution_count: int = 1
    ir_bytes: int = 4
    isa_bytes: int = 4
    isa_instruction: str = "global_load_dword"
    needed: int = 0
    used: int = 0
    bank_conflicts: int | None = None
    source: str = ""  #: The source line.

    @property
    def place(self) -> str:
        """Its file, as Omniprobe writes it."""
        return UNKNOWN_FILE if self.file is None else self.file


@dataclass(frozen=True)
class ProbedKernel:
    """Findings of Omniprobe in one dispatch."""

    name: str
    dispatch: int
    accesses: tuple[ProbedAccess, ...]
    target: str = "gfx942"
    cache_line_bytes: int = 128


@dataclass(frozen=True)
class ProbedMessage:
    """A message with the addresses of its active lanes, which decide about its mask."""

    kernel: str
    dispatch: int
    line: int
    column: int
    kind: str | None
    timestamp: int
    addresses: dict[int, int] = field(default_factory=dict)  #: Lane -> address.
    workgroup: tuple[int, int, int] = (0, 0, 0)
    wave: int = 0
    xcc: int = 0
    se: int = 0
    cu: int = 0

    @property
    def exec_mask(self) -> int:
        """One bit per active lane."""
        return sum(1 << lane for lane in self.addresses)


def text_report(kernel: ProbedKernel) -> str:
    """The report for people; like Omniprobe's it does not name the kernel."""
    memory = [access for access in kernel.accesses if access.bank_conflicts is None]
    lds = [access for access in kernel.accesses if access.bank_conflicts is not None]
    lines = ["", "=== L2 cache line use report ======================"]
    for access in memory:
        lines += [*_heading(access), f"\t{_WORDS[access.kind]} of {access.ir_bytes} bytes at IR level "]
        lines[-1] += f'({access.isa_bytes} bytes at ISA level: "{access.isa_instruction}")'
        lines.append(
            f"\texecuted {access.execution_count} times, {access.needed} cache lines needed, "
            f"{access.used} cache lines used"
        )
    if not memory:
        lines.append("No excess cache lines used for global memory accesses")
    lines += ["=== End of L2 cache line use report ===============", ""]
    lines.append("=== Bank conflicts report =========================")
    for access in lds:
        lines += [*_heading(access), f"\t{_WORDS[access.kind]} of {access.ir_bytes} bytes at IR level"]
        lines.append(f"\texecuted {access.execution_count} times, {access.bank_conflicts} bank conflicts in total")
    if not lds:
        lines.append("No bank conflicts found")
    return "\n".join([*lines, "=== End of bank conflicts report ====================", ""])


def json_log(kernels: list[ProbedKernel]) -> str:
    """The documents of several dispatches in one file, whose array is not closed."""
    return "".join(("[\n" if kernel.dispatch == 1 else ",\n") + _document(kernel) for kernel in kernels)


def csv_log(messages: list[ProbedMessage]) -> str:
    """The messages as CSV; a JSON line without addresses follows each."""
    lines = [CSV_HEADER]
    for message in messages:
        fields = [message.timestamp, f'"{message.kernel}"', message.line, message.dispatch]
        fields += [f"0x{message.exec_mask:016x}", message.xcc, message.se, message.cu, _NUMBERS[message.kind]]
        fields += [f"0x{address:016x}" for _, address in sorted(message.addresses.items())]
        lines += [",".join(["ADDRESS_MESSAGE", *map(str, fields)]), _message_line(message, with_addresses=False)]
    return "\n".join(lines) + "\n"


def message_json_log(messages: list[ProbedMessage]) -> str:
    """The messages as JSON lines."""
    return "".join(_message_line(message, with_addresses=True) + "\n" for message in messages)


def random_kernel(seed: int, *, name: str = "gemm(float*, int) [clone .kd]", dispatch: int = 1) -> ProbedKernel:
    """A dispatch with accesses to both spaces, among them names and source lines that need escapes."""
    draw = seeded("omniprobe", seed)
    files = ("/src/gemm.hip", '/src/odd "name".hip', "/src/a:b.hip", "/src/back\\slash.h", None)
    sources = ("", "c[i] = a[j];", 'printf("a: %d\\n", x); // "quoted"', '"line": 99,', "x ? y : z; // 3:4 ")
    accesses = []
    for line in range(1, draw.randrange(4, 12)):
        is_lds = draw.random() < 0.5
        needed = draw.randrange(1, 9)
        accesses.append(
            ProbedAccess(
                draw.choice(files) if is_lds else draw.choice(files[:-1]),
                line,
                draw.randrange(1, 80),
                draw.choice(("read", "write", "read_write", None)),
                execution_count=draw.randrange(1, 1 << 40),
                ir_bytes=draw.choice((1, 2, 4, 8, 16)),
                isa_bytes=0 if is_lds else draw.choice((4, 8, 16)),
                isa_instruction="" if is_lds else "global_load_dwordx4",
                needed=0 if is_lds else needed,
                used=0 if is_lds else needed + draw.randrange(0, 60),
                bank_conflicts=draw.randrange(0, 1 << 20) if is_lds else None,
                source=draw.choice(sources),
            )
        )
    return ProbedKernel(name, dispatch, tuple(accesses))


def random_messages(seed: int, count: int = 20) -> list[ProbedMessage]:
    """Messages with some of their lanes active."""
    draw = seeded("omniprobe", seed)
    messages = []
    for number in range(count):
        lanes = sorted(draw.sample(range(64), draw.randrange(1, 65)))
        messages.append(
            ProbedMessage(
                'f<"a, b">(int*, char)',
                1 + number // 7,
                draw.randrange(1, 500),
                draw.randrange(1, 80),
                draw.choice(("read", "write", "read_write", None)),
                timestamp=draw.randrange(1 << 63),
                addresses={lane: draw.randrange(1 << 64) for lane in lanes},
                workgroup=(draw.randrange(1 << 16), draw.randrange(9), draw.randrange(9)),
                wave=draw.randrange(16),
                xcc=draw.randrange(8),
                se=draw.randrange(4),
                cu=draw.randrange(16),
            )
        )
    return messages


def _heading(access: ProbedAccess) -> list[str]:
    source = [access.source, " " * (access.column - 1) + "^"] if access.source else []
    return [f"{access.place}:{access.line}:{access.column}", *source]


def _document(kernel: ProbedKernel) -> str:
    memory = ",\n".join(_json_access(access) for access in kernel.accesses if access.bank_conflicts is None)
    lds = ",\n".join(_json_access(access) for access in kernel.accesses if access.bank_conflicts is not None)
    return (
        '{\n  "kernel_analysis": {\n    "kernel_info": {\n'
        f'      "name": "{kernel.name}",\n      "dispatch_id": {kernel.dispatch}\n    }},\n'
        f'    "cache_analysis": {{\n      "accesses": [\n{memory}\n      ]\n    }},\n'
        f'    "bank_conflicts": {{\n      "accesses": [\n{lds}\n      ]\n    }}\n  }},\n'
        '  "metadata": {\n    "version": "1.0.0",\n    "timestamp": "2026-05-01 12:30:45",\n    "gpu_info": {\n'
        f'      "architecture": "{kernel.target}",\n      "cache_line_size": {kernel.cache_line_bytes}\n'
        "    }\n  }\n}"
    )


def _json_access(access: ProbedAccess) -> str:
    pad = " " * 12
    numbers = f'{pad}"execution_count": {access.execution_count},\n{pad}"ir_bytes": {access.ir_bytes},\n'
    if access.bank_conflicts is None:
        numbers += (
            f'{pad}"isa_bytes": {access.isa_bytes},\n{pad}"isa_instruction": "{access.isa_instruction}",\n'
            f'{pad}"cache_lines": {{\n{pad}  "needed": {access.needed},\n{pad}  "used": {access.used}\n{pad}}}\n'
        )
    else:
        numbers += f'{pad}"total_conflicts": {access.bank_conflicts}\n'
    return (
        '        {\n          "source_location": {\n'
        f'{pad}"file": "{access.place}",\n{pad}"line": {access.line},\n{pad}"column": {access.column}\n          }},\n'
        f'          "code_context": "{access.source.strip()}",\n          "access_info": {{\n'
        f'{pad}"type": "{_WORDS[access.kind]}",\n{numbers}          }}\n        }}'
    )


def _message_line(message: ProbedMessage, *, with_addresses: bool) -> str:
    numbers = {
        "dispatch_id": message.dispatch,
        "exec": message.exec_mask,
        "timestamp": message.timestamp,
        "dwarf_line": message.line,
        "dwarf_column": message.column,
        "block_idx_x": message.workgroup[0],
        "block_idx_y": message.workgroup[1],
        "block_idx_z": message.workgroup[2],
        "wave_num": message.wave,
        "xcc_id": message.xcc,
        "se_id": message.se,
        "cu_id": message.cu,
        "active_lane_count": len(message.addresses),
        "user_type": 0,
    }
    fields = [f'"kernel_name": "{message.kernel}"', *(f'"{name}": {number}' for name, number in numbers.items())]
    fields.append(f'"op_type": "{_OPERATIONS[message.kind]}"')
    if with_addresses:
        fields.append('"addresses": [' + ",".join(str(a) for _, a in sorted(message.addresses.items())) + "]")
    return "{" + ",".join(fields) + "}"
