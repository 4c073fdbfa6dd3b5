"""Collectives from one rank, and as RCCL Inspector and the flight recorder of PyTorch log them."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.kit.made_runs import Row, rows, run, source
from wavewright.analysis.run.ranks.collective_times import collectives
from wavewright.errors import NotATraceError
from wavewright.model.run import Run
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run
from wavewright.words.run.collectives import collectives_report

_MIB = 1 << 20


def said(answer: Any) -> str:
    return " ".join(str(part) for part in collectives_report(answer))


def all_reduce(start_ns: int, length_ns: int, **more: Any) -> Row:
    about = {"Collective name": "allreduce", "In msg nelems": 16 * _MIB, "dtype": "Float", "Group size": 8}
    text = json.dumps(about | more)
    return {"start_ns": start_ns, "end_ns": start_ns + length_ns, "name": "ncclDevKernel_Generic", "properties": text}


def one_rank(product: str | None) -> Any:
    """Four all-reduces of 64 MiB in a group of 8: 117,440,512 bytes leave a rank, 262.144 us at 448 GB/s."""
    calls = [all_reduce(at * 10**8, length) for at, length in enumerate((300_000, 300_000, 9_400_000, 30_000_000))]
    made = run(dispatches=calls)
    if product:
        tables = made.origins[0].tables  # type: ignore[attr-defined]
        tables["agents"] = tables["agents"].with_columns(product=pl.lit(product), target=pl.lit(None, pl.String))
    return made


def test_one_rank() -> None:
    answer = collectives(one_rank("AMD Instinct MI300X"))
    (row,) = answer.alone.to_dicts()
    assert (row["calls"], row["total_ns"], row["shortest_ns"], row["group_size"]) == (4, 40_000_000, 300_000, 8)
    assert row["bus_bytes_per_second"] == pytest.approx(4 * 64 * _MIB * 1.75 / 0.04)
    assert row["bus_bytes_per_second_max"] == pytest.approx(64 * _MIB * 1.75 / 300e-6)
    assert (row["waiting_ns_min"], row["waiting_ns_max"]) == (38_800_000, 40_000_000 - 4 * 262_144)
    text = said(answer)
    assert "seems to move 11.7 GB/s, 38 times below what the links of this GPU can do (448 GB/s)" in text
    assert "97.0 % to 97.4 % of it waits for ranks or for links" in text


def test_one_rank_of_unknown_gpu_or_size() -> None:
    (row,) = collectives(one_rank(None)).alone.to_dicts()
    assert (row["waiting_ns_min"], row["waiting_ns_max"], row["link_bytes_per_second"]) == (38_800_000, None, None)
    nameless = [{"start_ns": at, "end_ns": at + 9, "name": "ncclDevKernel_Generic"} for at in (0, 100)]
    answer = collectives(run(dispatches=nameless))
    columns = ("waiting_ns_min", "waiting_ns_max", "bus_bytes_per_second")
    assert rows(answer.alone, *columns) == [(None, None, None)]
    assert "waits for ranks or" not in said(answer)


def inspector(rank: int, number: int, duration_us: int = 61_974, size: int = 1 << 34) -> dict[str, Any]:
    """A line as AMD's documentation has it: 17.2 GB in 61,974 us are 277.210914 GB/s, and 485.119099 on the bus."""
    seconds = duration_us / 1e6
    about = {"inspector_output_format_version": "v4.0", "dump_timestamp_us": 1, "hostname": "n1", "pid": 70 + rank}
    return {
        "header": {"id": "0x7f8c496ae9f661", "rank": rank, "n_ranks": 8, "nnodes": 1},
        "metadata": about,
        "coll_perf": {"coll": "AllReduce", "coll_sn": number, "coll_msg_size_bytes": size,
                      "coll_exec_time_us": duration_us, "coll_algobw_gbs": size / seconds / 1e9,
                      "coll_busbw_gbs": size / seconds / 1e9 * 1.75},
    }  # fmt: skip


def test_logs_of_rccl_inspector(tmp_path: Path) -> None:
    for rank in range(2):
        lines = [json.dumps(inspector(rank, number)) for number in (3, 4, 9)]
        lines += ["", "{not JSON", '{"header":' * 50_000, '{"header":{},"coll_perf":{"coll":7}}', "[1]"]
        (tmp_path / f"n1-pid{70 + rank}.log").write_text("\n".join(lines))
    assert sniff(tmp_path / "n1-pid70.log") is Kind.COLLECTIVE_LOG
    opened = open_run(tmp_path)
    assert rows(opened.losses, "kind", "count") == [("malformed_rows", 4)] * 2
    assert rows(opened.processes, "pid", "rank") == [(70, 0), (71, 1)]
    answer = collectives(opened)
    (row,) = answer.logged.to_dicts()
    assert (row["kind"], row["rank_count"], row["calls"], row["unlogged_count"]) == ("all-reduce", 2, 6, 4)
    assert row["bus_bytes_per_second"] / 1e9 == pytest.approx(485.119099)
    assert "moves 485 GB/s" in said(answer)


def entry(
    number: int, name: str = "all_reduce", state: str = "completed", count: int = 4, **more: Any
) -> dict[str, Any]:
    sizes = {"input_sizes": [[count, 2]], "output_sizes": [[count, 2]]}
    types = {"input_dtypes": ["Float"], "output_dtypes": ["Float"]}
    frames = [{"name": "all_reduce", "filename": "/site/torch/distributed/distributed_c10d.py", "line": 1},
              {"name": "step", "filename": "/home/u/train.py", "line": number}]  # fmt: skip
    group = {"pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": number, "p2p_seq_id": 0}
    times = {"time_created_ns": number, "time_discovered_completed_ns": None, "is_p2p": False, "frames": frames}
    return {
        "record_id": number,
        "profiling_name": f"nccl:{name}",
        "state": state,
        **group,
        **times,
        **sizes,
        **types,
        **more,
    }


def dump(folder: Path, rank: int, entries: list[dict[str, Any]], protocol: int | None = 2) -> Path:
    root = {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}},
        "entries": entries,
    }
    path = folder / f"nccl_trace_rank_{rank}"
    path.write_bytes(json.dumps(root).encode() if protocol is None else pickle.dumps(root, protocol))
    return path


_CASES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "a rank that never came": ([entry(1)], "not called", "2 (never called it)"),
    "another collective": ([entry(1), entry(2, "broadcast")], "collective", "2 (broadcast)"),
    "another size": ([entry(1), entry(2, count=5)], "sizes", "[[[5, 2]]"),
    "not completed": ([entry(1), entry(2, state="started")], "state", "2 (started)"),
}


@pytest.mark.parametrize("case", _CASES)
@pytest.mark.parametrize("protocol", [2, None])
def test_where_ranks_differ(tmp_path: Path, case: str, protocol: int | None) -> None:
    third, reason, text = _CASES[case]
    for rank in range(2):
        dump(tmp_path, rank, [entry(1, duration_ms=0.5), entry(2)], protocol)
    path = dump(tmp_path, 2, third, protocol)
    assert sniff(path) is Kind.FLIGHT_RECORDER
    answer = collectives(open_run(tmp_path))
    (row,) = answer.unequal.to_dicts()
    assert (row["group"], row["sequence"], row["reason"], row["rank_count"]) == ("0 default_pg", 2, reason, 1)
    assert text in row["ranks"]
    assert row["site"] == f"step (train.py:{len(third)})"
    assert f"ranks differ at call 2 of group 0 default_pg (all_reduce), {reason}: rank 2" in said(answer)
    timed = answer.logged.filter(answer.logged["timed_count"] > 0).to_dicts()
    assert [(each["timed_count"], each["shortest_ns"], each["size_bytes"]) for each in timed] == [(2, 500_000, 32)]


def test_equal_ranks_and_rings_that_begin_later(tmp_path: Path) -> None:
    dump(tmp_path, 0, [entry(number) for number in range(1, 9)])
    dump(tmp_path, 1, [entry(number) for number in range(4, 9)])
    answer = collectives(open_run(tmp_path))
    assert not answer.unequal.height
    assert answer.logged["calls"].to_list() == [13]
    assert "2 of 3 of 0 default_pg" in said(answer)  # the dump of rank 2 is missing


def test_sends_are_not_numbered_with_collectives(tmp_path: Path) -> None:
    """Calls 900 to 902 and sends 1 and 3 of one group: send 2 alone is not logged."""
    sends = [entry(0, "send 0->1", is_p2p=True, p2p_seq_id=number) for number in (1, 3)]
    dump(tmp_path, 0, [*sends, *(entry(number) for number in (900, 901, 902))])
    logged = collectives(open_run(tmp_path)).logged
    assert logged.select("calls", "unlogged_count").sort("calls").rows() == [(2, 1), (3, 1)]


def test_nothing_of_a_dump_is_run(tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "made"),)

    path = dump(tmp_path, 0, [entry(1), {**entry(2), "frames": Runs()}])
    with pytest.raises(NotATraceError, match="no code of the file was run"):
        open_run(path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "content",
    [
        b'{"pg_config": {}, "entries": []}',
        b'{"pg_config": ' + b"[" * 100_000,
        b'{"pg_config": {}, "entries": [{"profiling_name": 7}, 1, {"profiling_name": "x", "state": "completed"}]}',
        b"\x80\x02}X\x09\x00\x00\x00pg_config]s.",
    ],
)
def test_damaged_dumps(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "nccl_trace_rank_0"
    path.write_bytes(content)
    assert sniff(path) is Kind.FLIGHT_RECORDER
    try:
        opened = open_run(path)
    except NotATraceError:
        return
    assert rows(opened.losses, "kind", "count") == [("malformed_rows", 2)]
    assert collectives(opened).logged["size_bytes"].to_list() == [None]


_COMMUNICATORS = {"0xaef8a00": (8, "0xc2f42310f0fc7fea"), "0xbbb": (2, "0x12")}


def log_of_rccl(rank: int, calls: list[tuple[str, int, int, int, str]]) -> str:
    """Lines as ROCm's guide to its log has them; `calls`: operation, opCount, elements, type, communicator."""
    who = f"banff-4:{70 + rank}:{70 + rank} [{rank}] NCCL INFO "
    lines = [f"{who}RCCL version : 2.22.3-HEAD:9b8bf2d"]
    for address, (size, identity) in _COMMUNICATORS.items():
        told = (
            f"comm {address} rank {rank} nranks {size} cudaDev {rank} busId {rank}000 commId {identity} localSize 296"
        )
        lines.append(f"{who}ncclCommInitRank {told} used 368870624 bytes on core 19 - Init COMPLETE")
    for name, number, count, kind, address in calls:
        buffers = f"sendbuff 0x7f8bccf79600 recvbuff {'(nil)' if name == 'Send' else '0x7f8bccf79600'}"
        about = f"count {count} datatype {kind} op 0 root 0 comm {address} [nranks={_COMMUNICATORS[address][0]}]"
        lines.append(f"{who}{name}: opCount {number:x} {buffers} {about} stream 0xac16b80 task 0 globalrank {rank}")
        lines.append(f"{who}## [170260.348516] [0{rank}:00] 000001 KE busId bf000 nRanks 8")
    return "\n".join(lines) + "\n"


_CALLS = [("AllReduce", 3, 1 << 28, 6, "0xaef8a00"), ("AllGather", 10, 1 << 20, 9, "0xaef8a00"),
          ("Send", 0, 64, 7, "0xbbb"), ("Recv", 0, 32, 7, "0xbbb"), ("AllReduce", 11, 9, 8, "0xaef8a00")]  # fmt: skip


def test_a_log_of_rccl(tmp_path: Path) -> None:
    text = log_of_rccl(0, _CALLS) + log_of_rccl(1, _CALLS)
    damaged = "banff-4:70:70 [0] NCCL INFO AllReduce: opCount zz sendbuff 0x1 recvbuff\n"
    (tmp_path / "rccl.log").write_text(f"starting\n{text}{damaged}")
    assert sniff(tmp_path / "rccl.log") is Kind.COLLECTIVE_LOG
    opened = open_run(tmp_path / "rccl.log")
    assert rows(opened.losses, "kind", "count") == [("malformed_rows", 1)]
    assert rows(opened.processes, "pid", "rank") == [(70, 0), (71, 1)]
    logged = collectives(opened).logged.sort("size_bytes", descending=True)
    columns = ("collective", "group", "group_size", "size_bytes", "rank_count", "calls", "unlogged_count")
    assert rows(logged, *columns)[:2] == [
        ("AllReduce", "0xc2f42310f0fc7fea", 8, 2 << 28, 2, 2, 6),
        ("AllGather", "0xc2f42310f0fc7fea", 8, 8 * 2 << 20, 2, 2, 6),
    ]
    bare = text.replace("commId", "id")
    (tmp_path / "rccl.log").write_text(bare)
    assert set(collectives(open_run(tmp_path / "rccl.log")).logged["group"]) == {"communicator 0", "communicator 1"}
    (tmp_path / "rccl.log").write_text("a:1:1 [0] NCCL INFO Bootstrap : Using eth0\n")
    with pytest.raises(NotATraceError, match="without any collective"):
        open_run(tmp_path / "rccl.log")


def test_a_log_of_one_endless_word_is_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "rccl.log").write_text(log_of_rccl(0, _CALLS) + "x" * 2_000_000)
    begin = time.process_time()
    assert collectives(open_run(tmp_path / "rccl.log")).logged["calls"].sum() == 5
    assert time.process_time() - begin < 5


def with_log(tmp_path: Path, names: list[str], calls: list[tuple[str, int, int, int, str]], pid: int = 70) -> Any:
    kernels = [{"start_ns": at * 10_000, "end_ns": at * 10_000 + 1_000, "name": name} for at, name in enumerate(names)]
    (tmp_path / "rccl.70.log").write_text(log_of_rccl(0, calls))
    made = source("run.db", host="banff-4", pid=pid, dispatches=kernels)
    return collectives(Run([made, *open_run(tmp_path / "rccl.70.log").origins]))


_GENERIC = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"


def test_kernels_get_the_sizes_of_the_calls_in_a_log(tmp_path: Path) -> None:
    answer = with_log(tmp_path, [_GENERIC] * 4, _CALLS)
    columns = ("kind", "collective", "size_bytes", "group_size", "calls")
    assert set(rows(answer.collectives, *columns)) == {
        ("all-reduce", "AllReduce", 2 << 28, 8, 1),
        ("all-gather", "AllGather", 8 * 2 << 20, 8, 1),
        ("send/receive", "Send", 96 * 4, 2, 1),
        ("all-reduce", "AllReduce", 9 * 8, 8, 1),
    }
    assert [caveat.name for caveat in answer.caveats if "log" in caveat.name] == [
        "logs_missing",
        "collectives_from_log",
    ]
    # A recording that begins later: one place fits the kinds that the names tell.
    answer = with_log(tmp_path, ["ncclDevKernel_AllGather_RING_LL", _GENERIC, _GENERIC], _CALLS)
    assert answer.collectives["size_bytes"].sort().to_list() == [72, 384, 8 * 2 << 20]


_APART: dict[str, tuple[list[str], int, str]] = {
    "fewer kernels than calls, of no kind": ([_GENERIC] * 3, 70, "fit in several places"),
    "more kernels than calls": ([_GENERIC] * 5, 70, "fewer calls than kernels"),
    "another kind": ([_GENERIC, "ncclDevKernel_Broadcast_RING_LL", _GENERIC, _GENERIC], 70, "of other kinds"),
    "another process": ([_GENERIC] * 4, 9, "not in a log"),
}


@pytest.mark.parametrize("case", _APART)
def test_what_does_not_fit_a_log_is_not_joined(tmp_path: Path, case: str) -> None:
    names, pid, reason = _APART[case]
    answer = with_log(tmp_path, names, _CALLS, pid)
    assert answer.collectives["size_bytes"].null_count() == answer.collectives.height
    (caveat,) = [each for each in answer.caveats if each.name == "collectives_not_in_log"]
    assert reason in caveat.sentence
    assert f"{len(names)} kernels of collectives (100.0 % of their time)" in caveat.sentence
