"""Outputs of Omniprobe: everything that the writer put in comes out, and what is damaged is counted, not guessed."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from synth.omniprobe import (
    CSV_HEADER,
    ProbedAccess,
    ProbedKernel,
    ProbedMessage,
    csv_log,
    json_log,
    message_json_log,
    random_kernel,
    random_messages,
    text_report,
)
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.trace import omniprobe
from wavewright.readers.trace.omniprobe import OmniprobeLog, read_omniprobe
from wavewright.readers.trace.omniprobe.output_tables import ACCESSES, LANE_ADDRESSES, MESSAGES

SEEDS = range(8)
NOISE = "Found instrumented alternative for gemm [clone .kd]\nerror 12:30:45 in x\n\t\x1b[31mred\n"


def read(folder: Path, text: str | bytes, name: str = "omniprobe.log") -> OmniprobeLog:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_omniprobe(file)


def truth(kernel: ProbedKernel, *, is_json: bool) -> list[dict[str, Any]]:
    """The rows of `accesses`, memory first, as both outputs have them."""
    ordered = sorted(kernel.accesses, key=lambda access: access.bank_conflicts is not None)
    rows = []
    for access in ordered:
        is_lds = access.bank_conflicts is not None
        rows.append(
            {
                "kernel": kernel.name.removesuffix(" [clone .kd]") if is_json else None,
                "dispatch": kernel.dispatch if is_json else None,
                "file": access.file,
                "line": access.line,
                "column": access.column,
                "space": "lds" if is_lds else "memory",
                "kind": access.kind,
                "execution_count": access.execution_count,
                "ir_bytes": access.ir_bytes,
                "isa_bytes": None if is_lds else access.isa_bytes,
                "isa_instruction": None if is_lds else access.isa_instruction,
                "cache_lines_least_count": None if is_lds else access.needed,
                "cache_lines_used_count": None if is_lds else access.used,
                "bank_conflict_count": access.bank_conflicts,
                "target": kernel.target if is_json else None,
                "cache_line_bytes": kernel.cache_line_bytes if is_json else None,
            }
        )
    return rows


def message_truth(messages: list[ProbedMessage]) -> tuple[list[dict[str, Any]], list[tuple[int, int, int]]]:
    rows = [
        {
            "message": number,
            "kernel": message.kernel,
            "dispatch": message.dispatch,
            "type": "address",
            "line": message.line,
            "column": message.column,
            "timestamp": message.timestamp,
            "exec_mask": message.exec_mask,
            "kind": message.kind,
            "xcc": message.xcc,
            "se": message.se,
            "cu": message.cu,
            "workgroup_x": message.workgroup[0],
            "workgroup_y": message.workgroup[1],
            "workgroup_z": message.workgroup[2],
            "wave": message.wave,
        }
        for number, message in enumerate(messages)
    ]
    lanes = [(number, *pair) for number, message in enumerate(messages) for pair in sorted(message.addresses.items())]
    return rows, lanes


@pytest.mark.parametrize("seed", SEEDS)
def test_reports(tmp_path: Path, seed: int) -> None:
    kernel = random_kernel(seed)
    log = read(tmp_path, text_report(kernel))
    assert log.accesses.to_dicts() == truth(kernel, is_json=False)
    assert dict(log.accesses.schema) == ACCESSES.dtypes
    assert log.losses == ()
    assert (log.messages.height, log.lane_addresses.height) == (0, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_documents(tmp_path: Path, seed: int) -> None:
    kernels = [random_kernel(seed + number, dispatch=number) for number in (1, 2, 3)]
    log = read(tmp_path, json_log(kernels))
    assert log.accesses.to_dicts() == [row for kernel in kernels for row in truth(kernel, is_json=True)]
    assert log.losses == ()


@pytest.mark.parametrize("writer", [csv_log, message_json_log])
@pytest.mark.parametrize("seed", SEEDS)
def test_messages(tmp_path: Path, seed: int, writer: Any) -> None:
    messages = random_messages(seed)
    log = read(tmp_path, writer(messages))
    rows, lanes = message_truth(messages)
    assert log.messages.to_dicts() == rows
    assert log.lane_addresses.rows() == lanes
    assert dict(log.messages.schema) == MESSAGES.dtypes
    assert dict(log.lane_addresses.schema) == LANE_ADDRESSES.dtypes
    assert log.losses == ()


def test_a_console_with_everything_in_turn(tmp_path: Path) -> None:
    kernel, messages = random_kernel(3), random_messages(3)
    parts = [
        NOISE,
        text_report(kernel),
        csv_log(messages),
        json_log([kernel]),
        "\n",
        text_report(random_kernel(4)),
        NOISE,
    ]
    log = read(tmp_path, "".join(parts))
    expected = truth(kernel, is_json=True) + truth(kernel, is_json=False) + truth(random_kernel(4), is_json=False)
    assert log.accesses.to_dicts() == expected
    assert log.lane_addresses.rows() == message_truth(messages)[1]
    assert log.losses == ()


def test_runs_that_follow_one_another_in_a_file(tmp_path: Path) -> None:
    kernel = random_kernel(5)
    log = read(tmp_path, json_log([kernel]) + json_log([kernel]) + "\n]\n")
    assert log.accesses.to_dicts() == 2 * truth(kernel, is_json=True)


def test_a_document_of_an_unknown_gpu_does_not_tell_its_cache_lines(tmp_path: Path) -> None:
    access = ProbedAccess("a.hip", 1, 2, needed=1, used=2)
    log = read(tmp_path, json_log([ProbedKernel("k", 1, (access,), target="unknown")]))
    assert log.accesses.select("target", "cache_line_bytes").row(0) == (None, None)


def test_other_messages_have_a_timestamp_and_no_addresses(tmp_path: Path) -> None:
    message = ProbedMessage("k", 1, 7, 3, None, 99, {0: 1, 5: 2})
    (line,) = message_json_log([message]).splitlines()
    block = line.replace('"user_type": 0,"op_type": "undefined"', '"user_type": 2,"user_data": 4')
    without = block[: block.index(',"addresses"')] + "}"
    log = read(tmp_path, without + "\n")
    assert log.messages.select("type", "line", "timestamp", "exec_mask").row(0) == ("basic block start", 7, 99, 33)
    assert (log.lane_addresses.height, log.losses) == (0, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0x0000000000000021", "0x0000000000000001"),  # fewer lanes than addresses
        ("0x0000000000000021", "21"),
        ("0x0000000000000021", "0x00000000000000210"),
        ("0x0000000000001000", "0xzz"),
        ("0x0000000000001000", "-0x1"),
        (",0x0000000000002000", ""),
        (",0x0000000000002000", ",0x0000000000002000" * 70),
        (',"k",', ",k,"),
        ("ADDRESS_MESSAGE,99", "ADDRESS_MESSAGE,1e9"),
        ("ADDRESS_MESSAGE,99", "ADDRESS_MESSAGE," + "9" * 21),
        (",7,1,", ",-7,1,"),
        (",0,0,0,1,", ",0,0,0,9,"),
        (",0,0,0,1,", ",256,0,0,1,"),
    ],
)
def test_damaged_lines_of_csv_are_counted(tmp_path: Path, old: str, new: str) -> None:
    message = ProbedMessage("k", 1, 7, 3, "read", 99, {0: 0x1000, 5: 0x2000})
    header, line, _ = csv_log([message]).splitlines()
    assert old in line
    log = read(tmp_path, "\n".join([header, line.replace(old, new), line, ""]))
    assert log.messages.height == 1
    assert log.lane_addresses.rows() == [(0, 0, 0x1000), (0, 5, 0x2000)]
    assert [(loss.kind, loss.count, loss.detail) for loss in log.losses] == [("omniprobe_unread", 1, "messages")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"exec": 33', '"exec": 1'),
        ('"exec": 33', '"exec": -33'),
        ('"exec": 33', '"exec": 36893488147419103265'),
        ("4096", "1.5"),
        ("4096", "-1"),
        ("[4096", "[" * 5000 + "4096"),
        ('"dwarf_line": 7', '"dwarf_line": 4294967296'),
        ('"dwarf_line": 7,', ""),
        ('"block_idx_x": 0', '"block_idx_x": 65536'),
        ("]}", "]"),
        ('","dispatch_id"', '","id"'),
    ],
)
def test_damaged_lines_of_json_are_counted(tmp_path: Path, old: str, new: str) -> None:
    message = ProbedMessage("k", 1, 7, 3, "read", 99, {0: 4096, 5: 8192})
    (line,) = message_json_log([message]).splitlines()
    assert old in line
    log = read(tmp_path, "\n".join([line.replace(old, new), line, ""]))
    assert (log.messages.height, log.lane_addresses.height) == (1, 2)
    assert [loss.count for loss in log.losses] == [1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("executed 5 times", "executed many times"),
        ("executed 5 times", f"executed {1 << 70} times"),
        ("2 cache lines needed", "2 cache lines"),
        ("a.hip:3:9\n", ""),
        ("a.hip:3:9\n", "2026-05-01 12:30:45\na.hip:3:9\n"),  # which of them is the place?
        (" of 4 bytes at IR level", " of bytes"),
    ],
)
def test_damaged_blocks_of_a_report_are_counted(tmp_path: Path, old: str, new: str) -> None:
    accesses = (
        ProbedAccess("a.hip", 3, 9, execution_count=5, needed=2, used=4),
        ProbedAccess("b.hip", 4, 1, execution_count=6, needed=2, used=5),
    )
    text = text_report(ProbedKernel("k", 1, accesses))
    assert old in text
    log = read(tmp_path, text.replace(old, new, 1))
    assert log.accesses["file"].to_list() == ["b.hip"]
    assert [(loss.count, loss.detail) for loss in log.losses] == [(1, "accesses of the report")]


def test_a_source_line_that_looks_like_a_place_makes_its_block_unclear(tmp_path: Path) -> None:
    access = ProbedAccess("a.hip", 3, 9, needed=1, used=4, source="switch_it: case 5:3:4")
    log = read(tmp_path, text_report(ProbedKernel("k", 1, (access,))))
    assert (log.accesses.height, log.losses[0].count) == (0, 1)


@pytest.mark.slow
def test_every_cut_of_a_file_gives_whole_rows(tmp_path: Path) -> None:
    kernel, messages = random_kernel(6), random_messages(6, count=3)
    rows, lanes = message_truth(messages)
    late = {"target", "cache_line_bytes"}  # documents tell them at their ends
    expected = [{name: row[name] for name in row.keys() - late} for row in truth(kernel, is_json=True)]
    document, log_text = json_log([kernel]), csv_log(messages)
    for length in range(60, len(document), 13):
        log = read(tmp_path, document[:length])
        read_rows = log.accesses.drop(late).to_dicts()
        assert read_rows == expected[: len(read_rows)]
        assert len(log.losses) <= 1
    for length in range(len(CSV_HEADER) + 1, len(log_text), 13):
        log = read(tmp_path, log_text[:length])
        count = log.messages.height
        assert log.lane_addresses.rows() == [lane for lane in lanes if lane[0] < count]
        assert log.messages["timestamp"].to_list() == [row["timestamp"] for row in rows[:count]]
        assert count + sum(loss.count for loss in log.losses) >= log_text[:length].count("ADDRESS_MESSAGE,") - 1


def test_a_cut_inside_the_last_number_is_no_smaller_number(tmp_path: Path) -> None:
    access = ProbedAccess(None, 3, 9, bank_conflicts=1234, execution_count=5)
    document = json_log([ProbedKernel("k", 1, (access,))])
    end = document.index("1234") + 2
    log = read(tmp_path, document[:end])
    assert (log.accesses.height, [loss.count for loss in log.losses]) == (0, [1])
    header, line, _ = csv_log([ProbedMessage("k", 1, 7, 3, "read", 99, {0: 0x1234})]).splitlines()
    log = read(tmp_path, f"{header}\n{line[:-2]}")
    assert (log.messages.height, [loss.count for loss in log.losses]) == (0, [1])


def test_packed_files_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    kernel = ProbedKernel("k", 1, (ProbedAccess("a\x1b.hip", 1, 2, needed=1, used=2),))
    data = json_log([kernel]).encode().replace(b'"k"', b'"k\xff"')
    log = read(tmp_path, gzip.compress(data), "log.gz")
    assert log.accesses.select("kernel", "file").row(0) == ("k?", "a?.hip")


def test_lines_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = random_kernel(7)
    monkeypatch.setattr(omniprobe, "_MAX_LINE_BYTES", 1000)
    log = read(tmp_path, "x" * 5000 + "\n" + text_report(kernel) + "y" * 1000)
    assert log.accesses.height == len(kernel.accesses)
    assert [(loss.count, loss.detail) for loss in log.losses] == [(2, "lines too long")]


def test_a_log_without_messages_is_one(tmp_path: Path) -> None:
    assert read(tmp_path, CSV_HEADER + "\n").messages.height == 0
    assert read(tmp_path, text_report(ProbedKernel("k", 1, ()))).accesses.height == 0


@pytest.mark.parametrize("text", ["{}\n", "hello\n", '{"traceEvents": []}', '"line": 5\n"file": "x"\n'])
def test_other_files(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotATraceError, match="nothing here is from Omniprobe"):
        read(tmp_path, text)


def test_paths_that_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_omniprobe(tmp_path / "nothing")
    with pytest.raises(UsageError, match="not a regular file"):
        read_omniprobe(tmp_path)
    with pytest.raises(NotATraceError, match="empty"):
        read(tmp_path, "")
    monkeypatch.setattr(omniprobe, "MAX_BYTES", 100)
    with pytest.raises(NotATraceError, match="more than"):
        read(tmp_path, text_report(random_kernel(1)))
