"""The tables of a `Run`: every column with its type, unit and meaning, declared once.

Times are nanoseconds of the clock of the node the process ran on; clocks of different nodes are not aligned. Columns
named like a table of numbered things (`process`, `agent`, ...) hold the number of its row; null = not recorded.
`docs/reference/run-tables.md` is generated from these declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from wavewright.model.schema import TableSpec

#: Every event is shorter (52 days): longer ones are damage, and sums of a thousand of the longest still fit.
LONGEST_NS = 1 << 52

_LINKS = """
        event                 Int64        -      | id of the event in its process, as stored; null = none
        correlation           Int64        -      | id shared by an API call and the GPU work it issued
        parent_correlation    Int64        -      | correlation of the enclosing API call
        external_correlation  Int64        -      | id that the application or a tool gave; 0 = none
"""

_CALL_DETAILS = """
        call_stack            String       -      | call stack as stored (JSON); null or {} = none
        line_info             String       -      | source lines as stored (JSON); null or {} = none
        event_properties      String       -      | everything else that is stored about its event, as JSON
        properties            String       -      | everything else that is stored about it, as JSON
"""

_TABLES = (
    table_spec(
        "sources",
        "one file, or folder of files, that was read",
        """
        source   UInt32  -  | number of the source
        path     String  -  | where it is
        format   String  -  | ROCpd, RPD, rocprofv3 CSV, rocprofv3 JSON, rocprof CSV, rocprof database, Kineto, ...
        version  String  -  | version of its schema or writer, as stored; empty = not said
        """,
    ),
    table_spec(
        "nodes",
        "one computer",
        """
        node        UInt32  -  | number of the node
        node_id     Int64   -  | id as stored
        hash        Int64   -  | hash of the machine id, as stored
        machine_id  String  -  | identity of the machine
        hostname    String  -  | its name
        system      String  -  | operating system
        release     String  -  | of the operating system
        version     String  -  | of the operating system
        hardware    String  -  | architecture of the CPU
        domain      String  -  | name of the network domain
        """,
    ),
    table_spec(
        "processes",
        "one process of the application; with MPI, one rank",
        """
        process     UInt32  -   | number of the process
        source      UInt32  -   | the file it was read from
        node        UInt32  -   | where it ran
        pid         Int64   -   | process id of the operating system
        parent_pid  Int64   -   | of the process that started it
        rank        Int32   -   | MPI or job rank, from its environment or the file; null = unknown
        guid        String  -   | unique id of the recording; empty = none stored
        command     String  -   | command line
        init_ns     Int64   ns  | when the recording tool was loaded
        start_ns    Int64   ns  | when the process began
        end_ns      Int64   ns  | when the process ended
        fini_ns     Int64   ns  | when the recording tool ended
        properties  String  -   | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "environment",
        "one environment variable of a process",
        """
        process  UInt32  -  | the process
        name     String  -  | name of the variable
        value    String  -  | its value; *** unless asked for
        """,
    ),
    table_spec(
        "threads",
        "one thread of a process",
        """
        thread      UInt32  -   | number of the thread
        process     UInt32  -   | its process
        tid         Int64   -   | thread id of the operating system
        parent_pid  Int64   -   | process that started its process, as stored
        name        String  -   | its name
        start_ns    Int64   ns  | when it began
        end_ns      Int64   ns  | when it ended
        properties  String  -   | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "agents",
        "one CPU or GPU as one process sees it",
        """
        agent               UInt32  -      | number of the agent
        process             UInt32  -      | the process that sees it
        agent_id            Int64   -      | id as stored
        kind                String  -      | CPU, GPU or NIC
        absolute_index      Int64   -      | number among all agents of the node
        logical_index       Int64   -      | number among the agents visible to the process
        type_index          Int64   -      | number among the agents of its kind
        target              String  -      | gfx942, ...; for CPUs their name
        product             String  -      | name of the product
        model               String  -      | name of the model
        vendor              String  -      | who made it
        device_id           Int64   -      | PCI device id
        cu_count            Int64   -      | compute units
        simd_count          Int64   -      | SIMDs of all compute units
        wave_lanes          Int64   lanes  | lanes of a wave
        waves_per_simd_max  Int64   waves  | most waves resident on a SIMD
        lds_bytes           Int64   bytes  | LDS of a compute unit
        properties          String  -      | everything that is stored about it, as JSON
        """,
    ),
    table_spec(
        "queues",
        "one hardware queue of a process",
        """
        queue       UInt32  -  | number of the queue
        process     UInt32  -  | its process
        queue_id    Int64   -  | id as stored
        name        String  -  | its name
        properties  String  -  | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "streams",
        "one stream of a process",
        """
        stream      UInt32  -  | number of the stream
        process     UInt32  -  | its process
        stream_id   Int64   -  | id as stored; 0 = the default stream
        name        String  -  | its name
        properties  String  -  | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "code_objects",
        "one loaded code object",
        """
        code_object     UInt32  -      | number of the code object
        process         UInt32  -      | the process that loaded it
        agent           UInt32  -      | the GPU it was loaded to
        code_object_id  Int64   -      | id as stored
        uri             String  -      | where it came from
        load_base       Int64   -      | address it was loaded to
        load_bytes      Int64   bytes  | its size in memory
        load_delta      Int64   -      | loaded address minus address in the file
        storage         String  -      | FILE or MEMORY
        properties      String  -      | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "symbols",
        "one kernel in a code object",
        """
        symbol            UInt32  -      | number of the kernel symbol
        process           UInt32  -      | the process that loaded it
        code_object       UInt32  -      | its code object
        symbol_id         Int64   -      | id as stored (kernel id)
        mangled           String  -      | name in the code object
        name              String  -      | name to show
        kernel_object     Int64   -      | address of its descriptor
        kernarg_bytes     Int64   bytes  | size of its arguments
        kernarg_alignment Int64   bytes  | alignment of its arguments
        lds_bytes         Int64   bytes  | LDS it always takes
        scratch_bytes     Int64   bytes  | scratch memory per lane it always takes
        sgpr_count        Int64   -      | scalar registers
        vgpr_count        Int64   -      | vector registers
        accum_vgpr_count  Int64   -      | accumulation registers
        properties        String  -      | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "dispatches",
        "one dispatch of a kernel",
        """
        process               UInt32       -      | the process that launched it
        thread                UInt32       -      | the thread that launched it
        agent                 UInt32       -      | the GPU it ran on
        queue                 UInt32       -      | the queue it was put into
        stream                UInt32       -      | the stream it belongs to
        symbol                UInt32       -      | the kernel
        name                  Categorical  -      | name of the kernel to show
        dispatch_id           Int64        -      | number of the dispatch in its process
        start_ns              Int64        ns     | when it began on the GPU
        end_ns                Int64        ns     | when it ended on the GPU
        workgroup_x           Int64        lanes  | size of a workgroup
        workgroup_y           Int64        lanes  | size of a workgroup
        workgroup_z           Int64        lanes  | size of a workgroup
        grid_x                Int64        lanes  | size of the grid
        grid_y                Int64        lanes  | size of the grid
        grid_z                Int64        lanes  | size of the grid
        lds_bytes             Int64        bytes  | LDS per workgroup
        scratch_bytes         Int64        bytes  | scratch memory per lane
        sgpr_count            Int64        -      | scalar registers
        vgpr_count            Int64        -      | vector registers
        accum_vgpr_count      Int64        -      | accumulation registers
        region_name           Categorical  -      | marker range it was renamed after; empty or null = none
        graph_exec            Int64        -      | graph execution it belongs to; 0 or null = none
        graph_node            Int64        -      | node of that graph
        """
        + _LINKS
        + """
        properties            String       -      | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "copies",
        "one copy of memory",
        """
        process               UInt32       -      | the process that asked for it
        thread                UInt32       -      | the thread that asked for it
        name                  Categorical  -      | MEMORY_COPY_HOST_TO_DEVICE, ...
        start_ns              Int64        ns     | when it began
        end_ns                Int64        ns     | when it ended
        size_bytes            Int64        bytes  | how much was copied; null = not recorded
        src_agent             UInt32       -      | from
        dst_agent             UInt32       -      | to
        src_address           Int64        -      | from
        dst_address           Int64        -      | to
        queue                 UInt32       -      | the queue it was put into
        stream                UInt32       -      | the stream it belongs to
        region_name           Categorical  -      | marker range it was renamed after; empty or null = none
        graph_exec            Int64        -      | graph execution it belongs to; 0 or null = none
        graph_node            Int64        -      | node of that graph
        """
        + _LINKS
        + """
        properties            String       -      | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "allocations",
        "one allocation or release of memory",
        """
        process               UInt32       -      | the process
        thread                UInt32       -      | the thread
        agent                 UInt32       -      | where; null for releases
        type                  Categorical  -      | ALLOC, FREE, REALLOC or RECLAIM
        level                 Categorical  -      | REAL, VIRTUAL, SCRATCH, FRAMEWORK (PyTorch's or XLA's own)
        start_ns              Int64        ns     | when the call began
        end_ns                Int64        ns     | when the call ended
        address               Int64        -      | the memory
        size_bytes            Int64        bytes  | how much; 0 for releases
        queue                 UInt32       -      | queue, for scratch memory
        stream                UInt32       -      | stream
        """
        + _LINKS
        + """
        properties            String       -      | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "regions",
        "one call or range on a CPU thread: HIP, HSA, RCCL, ... calls, markers, operators of a framework",
        """
        process               UInt32       -      | the process
        thread                UInt32       -      | the thread
        category              Categorical  -      | HIP_RUNTIME_API, MARKER_CORE_RANGE_API, cpu_op, ...; as stored
        domain                Categorical  -      | HIP, HSA, RCCL, MARKER, ...: the kind of call
        name                  Categorical  -      | name to show: the marker's text, else the function
        function              Categorical  -      | the function that was called
        start_ns              Int64        ns     | when it began
        end_ns                Int64        ns     | when it ended
        """
        + _LINKS
        + _CALL_DETAILS,
    ),
    table_spec(
        "samples",
        "one moment on a thread or track: marks, calls without duration, samples",
        """
        process               UInt32       -      | the process
        thread                UInt32       -      | the thread; null = a track of the process
        category              Categorical  -      | as stored
        domain                Categorical  -      | HIP, HSA, RCCL, MARKER, ...: the kind of call
        name                  Categorical  -      | name to show: the marker's text, else the function or track
        function              Categorical  -      | the track or function
        time_ns               Int64        ns     | when
        """
        + _LINKS
        + _CALL_DETAILS,
    ),
    table_spec(
        "arguments",
        "one argument of a call",
        """
        process     UInt32       -  | the process
        event       Int64        -  | the event of the call
        position    Int64        -  | which argument
        type        Categorical  -  | C++ type
        name        Categorical  -  | name of the argument
        value       String       -  | value as text
        properties  String       -  | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "counter_info",
        "one hardware counter as one process defined it",
        """
        counter      UInt32   -  | number of the counter
        process      UInt32   -  | the process
        agent        UInt32   -  | the agent it is measured on
        counter_id   Int64    -  | id as stored
        name         String   -  | name
        symbol       String   -  | short name
        description  String   -  | what it counts
        component    String   -  | tool that measured it
        units        String   -  | unit
        value_type   String   -  | ABS, ACCUM or RELATIVE
        block        String   -  | hardware block
        expression   String   -  | formula of a derived counter
        is_constant  Boolean  -  | whether it never changes
        is_derived   Boolean  -  | whether it is computed from others
        properties   String   -  | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "counters",
        "one value of one instance of a counter, for a dispatch or at a time",
        """
        process        UInt32   -   | the process
        counter        UInt32   -   | counter_info.counter
        event          Int64    -   | event of the dispatch; null = not of a dispatch
        time_ns        Int64    ns  | when, for streamed samples; null = of the whole dispatch
        value          Float64  -   | the value
        xcc            Int64    -   | accelerator complex die; null = not recorded
        shader_engine  Int64    -   | shader engine; null = not recorded
        instance       Int64    -   | instance of the block; null = not recorded
        properties     String   -   | everything else that is stored about it, as JSON
        """,
    ),
    table_spec(
        "monitors",
        "one interval in which a measured quantity was constant, or until it was measured again: clock, power, memory",
        """
        process      UInt32       -   | the process
        agent        UInt32       -   | the device; null = the process
        name         Categorical  -   | sclk, power, temp, device_power, cpu_frequency, ...; as stored
        start_ns     Int64        ns  | from
        end_ns       Int64        ns  | to
        value        Float64      -   | value in the unit of the monitor (sclk: MHz); null = not a number
        """,
    ),
    table_spec(
        "frames",
        "one frame of the call stack of a call or sample",
        """
        process  UInt32       -  | the process
        event    Int64        -  | the event of the call or sample
        depth    Int64        -  | 0 = innermost
        name     Categorical  -  | the frame
        """,
    ),
    table_spec(
        "losses",
        "one thing that was lost, guessed or could not be read",
        """
        source     UInt32   -  | sources.source; null = about all
        path       String   -  | the file
        kind       String   -  | stable name of the loss
        count      UInt64   -  | how many
        message    String   -  | what happened and what it means
        advice     String   -  | what to do
        is_damage  Boolean  -  | whether data is missing or may be wrong
        """,
    ),
)

RUN: dict[str, TableSpec] = {table.name: table for table in _TABLES}  #: The tables of a `Run`, by name.

#: Table -> its column that numbers the rows 0, 1, 2, ...
NUMBERED: dict[str, str] = {
    "sources": "source",
    "nodes": "node",
    "processes": "process",
    "threads": "thread",
    "agents": "agent",
    "queues": "queue",
    "streams": "stream",
    "code_objects": "code_object",
    "symbols": "symbol",
    "counter_info": "counter",
}

#: Column with a row number -> the table of that row.
REFERENCES: dict[str, str] = {key: table for table, key in NUMBERED.items()} | {
    "src_agent": "agents",
    "dst_agent": "agents",
}
