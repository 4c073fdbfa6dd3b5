# ruff: noqa: S608 - every name in these statements is our own
"""The tables and views of an RPD file, schema 3."""

from __future__ import annotations

GPU_STRIDE, PID_STRIDE = 1_000, 10_000_000  #: How far the ids of GPUs and processes of two nodes are apart.
METADATA = {"schema_version": "3", "gpu_stride": str(GPU_STRIDE), "pid_stride": str(PID_STRIDE), "session_count": "1"}

_ID = "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
_CALL = "api_ptr_id INTEGER NOT NULL PRIMARY KEY REFERENCES rocpd_api (id)"
_STRING = "INTEGER NOT NULL REFERENCES rocpd_string (id)"
_NUMBER = "INTEGER NOT NULL"
_AXES = ["gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ"]

#: Table -> its columns.
TABLES: dict[str, str] = {
    "rocpd_metadata": f"{_ID}, tag VARCHAR(4096) NOT NULL, value VARCHAR(4096) NOT NULL",
    "rocpd_string": f"{_ID}, string VARCHAR(4096) NOT NULL",
    "rocpd_ustring": f"{_ID}, string VARCHAR(4096) NOT NULL",
    "rocpd_api": f"""{_ID}, pid {_NUMBER}, tid {_NUMBER}, start {_NUMBER}, "end" {_NUMBER}, apiName_id {_STRING},
        category_id {_STRING}, domain_id {_STRING}, args_id INTEGER NOT NULL REFERENCES rocpd_ustring (id)""",
    "rocpd_op": f"""{_ID}, gpuId {_NUMBER}, queueId {_NUMBER}, sequenceId {_NUMBER}, start {_NUMBER},
        "end" {_NUMBER}, description_id {_STRING}, opType_id {_STRING}""",
    "rocpd_api_ops": f"""{_ID}, api_id INTEGER NOT NULL REFERENCES rocpd_api (id),
        op_id INTEGER NOT NULL REFERENCES rocpd_op (id)""",
    "rocpd_kernelapi": f"""{_CALL}, stream VARCHAR(18) NOT NULL, {", ".join(f"{axis} {_NUMBER}" for axis in _AXES)},
        groupSegmentSize {_NUMBER}, privateSegmentSize {_NUMBER}, kernelName_id {_STRING}""",
    "rocpd_copyapi": f"""{_CALL}, stream VARCHAR(18) NOT NULL, size {_NUMBER}, width {_NUMBER}, height {_NUMBER},
        kind {_NUMBER}, dst VARCHAR(18) NOT NULL, src VARCHAR(18) NOT NULL, dstDevice {_NUMBER}, srcDevice {_NUMBER},
        sync BOOL NOT NULL, pinned BOOL NOT NULL""",
    "rocpd_monitor": f"""{_ID}, deviceType VARCHAR(16) NOT NULL, deviceId {_NUMBER}, monitorType VARCHAR(16) NOT NULL,
        start {_NUMBER}, "end" {_NUMBER}, value VARCHAR(255) NOT NULL""",
    "rocpd_counter": f"{_ID}, value REAL, op_id INTEGER NOT NULL REFERENCES rocpd_op (id), name_id {_STRING}",
    "rocpd_stackframe": f"""{_ID}, api_ptr_id INTEGER NOT NULL REFERENCES rocpd_api (id), depth {_NUMBER},
        name_id {_STRING}""",
}

_LAUNCHES = """
    SELECT k.kernelName_id, a."end" - a.start AS ns FROM rocpd_api a JOIN rocpd_kernelapi k ON k.api_ptr_id = a.id
"""
_KERNEL = f"k.stream, {', '.join(f'k.{axis}' for axis in _AXES)}, k.groupSegmentSize, k.privateSegmentSize"
_COPY = "c.stream, c.size, c.width, c.height, c.kind, c.dst, c.src, c.dstDevice, c.srcDevice, c.sync, c.pinned"
_NAMED_OPS = """
    SELECT CASE d.string WHEN '' THEN t.string ELSE d.string END AS Name, o."end" - o.start AS ns
    FROM rocpd_op o JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id
"""

#: View -> its SELECT.
VIEWS: dict[str, str] = {
    "api": """
        SELECT a.id, a.pid, a.tid, a.start, a."end", d.string AS domain, c.string AS category, n.string AS apiName,
            u.string AS args
        FROM rocpd_api a JOIN rocpd_string d ON d.id = a.domain_id JOIN rocpd_string c ON c.id = a.category_id
            JOIN rocpd_string n ON n.id = a.apiName_id JOIN rocpd_ustring u ON u.id = a.args_id
    """,
    "op": """
        SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", d.string AS description, t.string AS opType
        FROM rocpd_op o JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id
    """,
    "top": f"""
        SELECT Name, COUNT(*) AS TotalCalls, SUM(ns) / 1000 AS TotalDuration_us,
            SUM(ns) / COUNT(*) / 1000.0 AS Ave_us,
            SUM(ns) * 100.0 / (SELECT SUM("end" - start) FROM rocpd_op) AS Percentage
        FROM ({_NAMED_OPS}) GROUP BY Name ORDER BY SUM(ns) DESC
    """,
    "ktop": f"""
        SELECT n.string AS Name, COUNT(*) AS TotalCalls, SUM(l.ns) / 1000 AS TotalDuration,
            SUM(l.ns) / COUNT(*) / 1000 AS Ave, SUM(l.ns) * 100.0 / (SELECT SUM(ns) FROM ({_LAUNCHES})) AS Percentage
        FROM ({_LAUNCHES}) l JOIN rocpd_string n ON n.id = l.kernelName_id GROUP BY n.string ORDER BY SUM(l.ns) DESC
    """,
    "busy": """
        SELECT gpuId, SUM("end" - start) AS GpuTime, w.span AS WallTime, SUM("end" - start) * 1.0 / w.span AS Busy
        FROM rocpd_op CROSS JOIN (SELECT MAX("end") - MIN(start) AS span FROM rocpd_op) w GROUP BY gpuId
    """,
    "kernel": f"""
        SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", o."end" - o.start AS duration, {_KERNEL},
            n.string AS kernelName
        FROM rocpd_op o JOIN rocpd_api_ops l ON l.op_id = o.id JOIN rocpd_kernelapi k ON k.api_ptr_id = l.api_id
            JOIN rocpd_string n ON n.id = k.kernelName_id
    """,
    "copy": f"""
        SELECT a.id, a.pid, a.tid, a.start, a."end", n.string AS apiName, {_COPY}
        FROM rocpd_api a JOIN rocpd_copyapi c ON c.api_ptr_id = a.id JOIN rocpd_string n ON n.id = a.apiName_id
    """,
    "copyop": f"""
        SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", o."end" - o.start AS duration, {_COPY},
            n.string AS apiName
        FROM rocpd_op o JOIN rocpd_api_ops l ON l.op_id = o.id JOIN rocpd_copyapi c ON c.api_ptr_id = l.api_id
            JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_string n ON n.id = a.apiName_id
    """,
    "stackframe": """
        SELECT f.id, n.string AS api, f.depth, s.string AS frame
        FROM rocpd_stackframe f JOIN rocpd_api a ON a.id = f.api_ptr_id JOIN rocpd_string n ON n.id = a.apiName_id
            JOIN rocpd_string s ON s.id = f.name_id
    """,
    "napi": f"""
        SELECT id, pid / {PID_STRIDE} AS node, pid % {PID_STRIDE} AS pid, tid % {PID_STRIDE} AS tid, start, "end",
            domain, category, apiName, args FROM api
    """,
    "nop": f"""
        SELECT id, gpuId / {GPU_STRIDE} AS node, gpuId % {GPU_STRIDE} AS gpuId, queueId, sequenceId, start, "end",
            description, opType FROM op
    """,
}
