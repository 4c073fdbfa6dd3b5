from __future__ import annotations

import json
from pathlib import Path

import pytest

from wavewright.codeobj.listing import Row, parse_rows, read_listing
from wavewright.errors import NotATraceError

HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
ROWS = [
    ["; kernel", 0, 0, "", 7, 256, 0, 0, 0, 0],
    ["s_load_dwordx2  s[2:3],\ts[0:1], 0x0", 0, 1, "/src/a.py:4", 7, 256, 1, 4, 0, 32],
    ["s_waitcnt lgkmcnt(0)", 0, 2, "", 7, 264, 1, 100, 100, 0],
    ["s_endpgm", 0, 3, None, 7, 268, 1, 4, 0, 0],
    ["s_endpgm", 0, 4, "", 7, 4096, 1, 4, 0, 0],
    ["s_nop 0", 0, 5, "", 9, 0, 1, 4, 0, 0],
]


def _write(folder: Path, document: object) -> Path:
    path = folder / "code.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("header", [HEADER, HEADER.split(", "), None, 5])
def test_code_json_becomes_rows(tmp_path: Path, header: object) -> None:
    path = _write(tmp_path, {"version": "3.0.0", "header": header, "code": ROWS})
    assert parse_rows(read_listing(path, 7)) == (
        [
            Row(256, 8, "s_load_dwordx2 s[2:3], s[0:1], 0x0"),
            Row(264, 4, "s_waitcnt lgkmcnt(0)"),
            Row(268, 4, "s_endpgm"),
            Row(4096, 4, "s_endpgm"),
        ],
        0,
    )
    assert parse_rows(read_listing(path, 9))[0] == [Row(0, 4, "s_nop 0")]
    with pytest.raises(NotATraceError, match="no rows of code object 3; those it has: 7, 9"):
        read_listing(path, 3)


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    document = {"header": ["Vaddr", "Codeobj", "ISA"], "code": [[16, 1, "s_nop 0"]]}
    assert read_listing(_write(tmp_path, document)) == b"16\t4\ts_nop 0\n"


def test_rows_that_cannot_be_read_are_left_to_be_counted(tmp_path: Path) -> None:
    bad = [None, [], ["s_nop 0", 0, 0, "", "x", 0], ["s_nop 0", 0, 0, "", 7, -4], [5, 0, 0, "", 7, 8]]
    tsv = read_listing(_write(tmp_path, {"header": HEADER, "code": [*ROWS, *bad]}), 7)
    rows, unreadable = parse_rows(tsv)
    assert (len(rows), unreadable) == (4, 5)


@pytest.mark.parametrize("text", ['{"code": 5}', '{"code": null}', "{}", "{", '{"a":' * 5000, '{"code": [[]]}'])
def test_what_is_no_code_json_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "code.json"
    path.write_text(text)
    with pytest.raises(NotATraceError):
        read_listing(path)


def test_tsv_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.isa.tsv"
    path.write_bytes(b"0x10\t4\ts_nop 0\r\nhello\n")
    assert read_listing(path) == b"0x10\t4\ts_nop 0\r\nhello\n"
    path.write_bytes(b"\x00\x01binary\n")
    with pytest.raises(NotATraceError, match="not a listing"):
        read_listing(path)
    with pytest.raises(NotATraceError, match="cannot be read"):
        read_listing(tmp_path / "missing.tsv")
    path.write_bytes(b"")
    assert read_listing(path) == b""
