"""An agent that lies: words are the mark and a scenario in JSON, by kind of request: answers, or what to do."""

import hashlib
import json
import os
import struct
import sys

mark, scenario = sys.argv[1], json.loads(sys.argv[2])
source = sys.stdin.buffer
source.read(int(source.readline()))
os.write(1, b"\n" + mark.encode() + b"\n")


def send(message, more=b""):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    data = struct.pack(">II", len(text), len(more)) + text + more
    while data:
        data = data[os.write(1, data) :]


files = scenario.get("contents", {})
while True:
    head = source.read(8)
    if len(head) < 8:
        break
    text, more = struct.unpack(">II", head)
    request = json.loads(source.read(text))
    source.read(more)
    name = request["op"]
    if name == "ping":
        continue
    content = files.get(request.get("name", ""), "").encode()
    answers = scenario.get("answers", {})
    if name in answers:
        value, blob = answers[name], scenario.get("bytes", {}).get(name, "").encode()
    elif name == "hash":
        part = content[: request["length"]]
        value, blob = {"sha256": hashlib.sha256(part).hexdigest(), "bytes": len(part)}, b""
    elif name == "chunk":
        value, blob = True, content[request["offset"] : request["offset"] + request["length"]]
    elif name == "folder":
        value, blob = "/data", b""
    else:
        value, blob = True, b""
    if scenario.get("raw") and name in scenario["raw"]:
        os.write(1, bytes.fromhex(scenario["raw"][name]))
        continue
    send({"id": request["id"], "value": value}, blob)
