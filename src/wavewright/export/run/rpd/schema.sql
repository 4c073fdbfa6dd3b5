-- The tables and views of an RPD file, schema 3; the strides are how far ids of two nodes are apart (its metadata).

-- TABLE rocpd_metadata
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
tag VARCHAR(4096) NOT NULL,
value VARCHAR(4096) NOT NULL;

-- TABLE rocpd_string
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
string VARCHAR(4096) NOT NULL;

-- TABLE rocpd_ustring
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
string VARCHAR(4096) NOT NULL;

-- TABLE rocpd_api
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
pid INTEGER NOT NULL,
tid INTEGER NOT NULL,
start INTEGER NOT NULL,
"end" INTEGER NOT NULL,
apiName_id INTEGER NOT NULL REFERENCES rocpd_string (id),
category_id INTEGER NOT NULL REFERENCES rocpd_string (id),
domain_id INTEGER NOT NULL REFERENCES rocpd_string (id),
args_id INTEGER NOT NULL REFERENCES rocpd_ustring (id);

-- TABLE rocpd_op
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
gpuId INTEGER NOT NULL,
queueId INTEGER NOT NULL,
sequenceId INTEGER NOT NULL,
start INTEGER NOT NULL,
"end" INTEGER NOT NULL,
description_id INTEGER NOT NULL REFERENCES rocpd_string (id),
opType_id INTEGER NOT NULL REFERENCES rocpd_string (id);

-- TABLE rocpd_api_ops
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
api_id INTEGER NOT NULL REFERENCES rocpd_api (id),
op_id INTEGER NOT NULL REFERENCES rocpd_op (id);

-- TABLE rocpd_kernelapi
api_ptr_id INTEGER NOT NULL PRIMARY KEY REFERENCES rocpd_api (id),
stream VARCHAR(18) NOT NULL,
gridX INTEGER NOT NULL,
gridY INTEGER NOT NULL,
gridZ INTEGER NOT NULL,
workgroupX INTEGER NOT NULL,
workgroupY INTEGER NOT NULL,
workgroupZ INTEGER NOT NULL,
groupSegmentSize INTEGER NOT NULL,
privateSegmentSize INTEGER NOT NULL,
kernelName_id INTEGER NOT NULL REFERENCES rocpd_string (id);

-- TABLE rocpd_copyapi
api_ptr_id INTEGER NOT NULL PRIMARY KEY REFERENCES rocpd_api (id),
stream VARCHAR(18) NOT NULL,
size INTEGER NOT NULL,
width INTEGER NOT NULL,
height INTEGER NOT NULL,
kind INTEGER NOT NULL,
dst VARCHAR(18) NOT NULL,
src VARCHAR(18) NOT NULL,
dstDevice INTEGER NOT NULL,
srcDevice INTEGER NOT NULL,
sync BOOL NOT NULL,
pinned BOOL NOT NULL;

-- TABLE rocpd_monitor
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
deviceType VARCHAR(16) NOT NULL,
deviceId INTEGER NOT NULL,
monitorType VARCHAR(16) NOT NULL,
start INTEGER NOT NULL,
"end" INTEGER NOT NULL,
value VARCHAR(255) NOT NULL;

-- TABLE rocpd_counter
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
value REAL,
op_id INTEGER NOT NULL REFERENCES rocpd_op (id),
name_id INTEGER NOT NULL REFERENCES rocpd_string (id);

-- TABLE rocpd_stackframe
id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
api_ptr_id INTEGER NOT NULL REFERENCES rocpd_api (id),
depth INTEGER NOT NULL,
name_id INTEGER NOT NULL REFERENCES rocpd_string (id);

-- VIEW api
SELECT a.id, a.pid, a.tid, a.start, a."end", d.string AS domain, c.string AS category, n.string AS apiName, u.string
    AS args
FROM rocpd_api a
JOIN rocpd_string d ON d.id = a.domain_id
JOIN rocpd_string c ON c.id = a.category_id
JOIN rocpd_string n ON n.id = a.apiName_id
JOIN rocpd_ustring u ON u.id = a.args_id;

-- VIEW op
SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", d.string AS description, t.string AS opType
FROM rocpd_op o
JOIN rocpd_string d ON d.id = o.description_id
JOIN rocpd_string t ON t.id = o.opType_id;

-- VIEW top
SELECT Name, COUNT(*) AS TotalCalls, SUM(ns) / 1000 AS TotalDuration_us, SUM(ns) / COUNT(*) / 1000.0 AS Ave_us,
    SUM(ns) * 100.0 / (SELECT SUM("end" - start) FROM rocpd_op) AS Percentage
FROM (SELECT CASE d.string WHEN '' THEN t.string ELSE d.string END AS Name, o."end" - o.start AS ns FROM rocpd_op o
    JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id)
GROUP BY Name ORDER BY SUM(ns) DESC;

-- VIEW ktop
SELECT n.string AS Name, COUNT(*) AS TotalCalls, SUM(l.ns) / 1000 AS TotalDuration, SUM(l.ns) / COUNT(*) / 1000 AS
    Ave, SUM(l.ns) * 100.0 / (SELECT SUM(ns)
FROM (SELECT k.kernelName_id, a."end" - a.start AS ns FROM rocpd_api a JOIN rocpd_kernelapi k ON k.api_ptr_id =
    a.id)) AS Percentage
FROM (SELECT k.kernelName_id, a."end" - a.start AS ns FROM rocpd_api a JOIN rocpd_kernelapi k ON k.api_ptr_id =
    a.id) l JOIN rocpd_string n ON n.id = l.kernelName_id
GROUP BY n.string ORDER BY SUM(l.ns) DESC;

-- VIEW busy
SELECT gpuId, SUM("end" - start) AS GpuTime, w.span AS WallTime, SUM("end" - start) * 1.0 / w.span AS Busy FROM
    rocpd_op CROSS JOIN (SELECT MAX("end") - MIN(start) AS span FROM rocpd_op) w
GROUP BY gpuId;

-- VIEW kernel
SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", o."end" - o.start AS duration, k.stream, k.gridX,
    k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ, k.groupSegmentSize, k.privateSegmentSize, n.string
    AS kernelName
FROM rocpd_op o
JOIN rocpd_api_ops l ON l.op_id = o.id
JOIN rocpd_kernelapi k ON k.api_ptr_id = l.api_id
JOIN rocpd_string n ON n.id = k.kernelName_id;

-- VIEW copy
SELECT a.id, a.pid, a.tid, a.start, a."end", n.string AS apiName, c.stream, c.size, c.width, c.height, c.kind,
    c.dst, c.src, c.dstDevice, c.srcDevice, c.sync, c.pinned
FROM rocpd_api a
JOIN rocpd_copyapi c ON c.api_ptr_id = a.id
JOIN rocpd_string n ON n.id = a.apiName_id;

-- VIEW copyop
SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", o."end" - o.start AS duration, c.stream, c.size,
    c.width, c.height, c.kind, c.dst, c.src, c.dstDevice, c.srcDevice, c.sync, c.pinned, n.string AS apiName
FROM rocpd_op o
JOIN rocpd_api_ops l ON l.op_id = o.id
JOIN rocpd_copyapi c ON c.api_ptr_id = l.api_id
JOIN rocpd_api a ON a.id = l.api_id
JOIN rocpd_string n ON n.id = a.apiName_id;

-- VIEW stackframe
SELECT f.id, n.string AS api, f.depth, s.string AS frame
FROM rocpd_stackframe f
JOIN rocpd_api a ON a.id = f.api_ptr_id
JOIN rocpd_string n ON n.id = a.apiName_id
JOIN rocpd_string s ON s.id = f.name_id;

-- VIEW napi
SELECT id, pid / PID_STRIDE AS node, pid % PID_STRIDE AS pid, tid % PID_STRIDE AS tid, start, "end", domain,
    category, apiName, args
FROM api;

-- VIEW nop
SELECT id, gpuId / GPU_STRIDE AS node, gpuId % GPU_STRIDE AS gpuId, queueId, sequenceId, start, "end", description,
    opType
FROM op;
