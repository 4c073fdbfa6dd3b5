"""A small RPD file of schema 3: two nodes, two sessions, marks, a graph, counters, stacks, damage."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SESSION = 1 << 32
STRINGS = {
    1: "", 2: "hipLaunchKernel", 3: "UserMarker", 4: "hipGraphLaunch", 5: "KernelExecution", 6: "Task", 7: "Memcpy",
    8: "gemm", 9: "relu", 10: "hip", 11: "SQ_WAVES", 12: "main", 13: "forward", 14: "hipMemcpyAsync", 15: "FillBuffer",
    16: "roctx", 17: "hipExtModuleLaunchKernel",
}  # fmt: skip
TEXTS = {1: "", 2: 'step "1"', 3: "graphExec = 0xabc | stream = 0x5", 4: "size=64 | free"}
SCHEMA = """
CREATE TABLE rocpd_metadata (id integer primary key, tag text, value text);
CREATE TABLE rocpd_string (id integer primary key, string text);
CREATE TABLE rocpd_ustring (id integer primary key, string text);
CREATE TABLE rocpd_api (id integer primary key, pid integer, tid integer, start integer, end integer,
  apiName_id bigint, category_id bigint, domain_id bigint, args_id bigint);
CREATE TABLE rocpd_op (id integer primary key, gpuId integer, queueId integer, sequenceId integer, start integer,
  end integer, description_id bigint, opType_id bigint);
CREATE TABLE rocpd_api_ops (id integer primary key, api_id bigint, op_id bigint);
CREATE TABLE rocpd_kernelapi (api_ptr_id bigint primary key, stream varchar(18), gridX integer, gridY integer,
  gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer,
  privateSegmentSize integer, kernelName_id bigint);
CREATE TABLE rocpd_copyapi (api_ptr_id bigint primary key, stream varchar(18), size integer, width integer,
  height integer, kind integer, dst varchar(18), src varchar(18), dstDevice integer, srcDevice integer, sync bool,
  pinned bool);
CREATE TABLE rocpd_monitor (id integer primary key, deviceType text, deviceId integer, monitorType text,
  start integer, end integer, value text);
CREATE TABLE rocpd_counter (id integer primary key, value real, op_id bigint, name_id bigint);
CREATE TABLE rocpd_stackframe (id integer primary key, api_ptr_id bigint, depth integer, name_id bigint);
CREATE TABLE ext_graph (id integer primary key, graphExec text, start integer, note real);
"""
NODE_1_PID = 10_000_000 + 7
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "rocpd_metadata": [(1, "gpu_stride", "1000"), (2, "pid_stride", "10000000"), (3, "schema_version", "3")],
    "rocpd_string": list(STRINGS.items()),
    "rocpd_ustring": list(TEXTS.items()),
    "rocpd_api": [
        (1, 5, 50, 100, 200, 2, 1, 10, 4),
        (2, 5, 50, 90, 900, 3, 1, 16, 2),
        (3, 5, 50, 150, 150, 3, 1, 16, 2),
        (4, 5, 51, 300, 310, 4, 1, 10, 3),
        (SESSION + 1, NODE_1_PID, 70, 100, 120, 14, 1, 1, 1),
        (SESSION + 2, NODE_1_PID, 70, 130, 140, 17, 1, 10, 1),
    ],
    "rocpd_op": [
        (1, 2, 0, 0, 1000, 1500, 8, 5),
        (2, 2, 1, 0, 1500, 1600, 9, 6),
        (3, 2, 1, 0, 1600, 1650, 1, 15),
        (SESSION + 1, 1002, 0, 4, 2000, 2600, 1, 7),
        (SESSION + 2, 1002, 0, 0, 2700, 2600, 9, 5),
        (SESSION + 3, 1002, 0, 0, 2800, 2900, 77, 5),
    ],
    "rocpd_api_ops": [(5, 4, 2), (6, 4, 3), (7, 1, 1), (8, SESSION + 1, SESSION + 1), (9, SESSION + 2, SESSION + 2)],
    "rocpd_kernelapi": [
        (SESSION + 2, "0x0", 64, 1, 1, 32, 1, 1, 16, 0, 9),
        (1, "0x7f00", 4, 2, 1, 64, 2, 1, 1024, 8, 8),
    ],
    "rocpd_copyapi": [(SESSION + 1, "0x0", 4096, "", "", 2, "0x10", "0x20", 0, 0, 1, 0)],
    "rocpd_monitor": [(1, "gpu", 1002, "sclk", 1, 50, "1700"), (2, "cpu", 0, "temp", 1, 50, "warm")],
    "rocpd_counter": [(1, 12.0, 1, 11), (2, 13.0, SESSION + 2, 11)],
    "rocpd_stackframe": [(1, 1, 0, 13), (2, 1, 1, 12)],
    "ext_graph": [(1, "", 40, 1.5), (2, "0xabc", "", 2.0)],
}


def write_rpd_file(path: Path, rows: Mapping[str, list[tuple[Any, ...]]] = ROWS) -> Path:
    """An RPD file with these rows."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous=OFF")
    connection.executescript(SCHEMA)
    for table, values in rows.items():
        for row in values:
            places = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", row)  # noqa: S608 - our own names
    connection.commit()
    connection.close()
    return path
