"""Tables of counters that were changed, cut or saved by other tools: what is sound is read, the rest is a loss."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.counter_capture import CounterCapture, write_counters
from tests.kit.sampling import examples
from wavewright.errors import NotATraceError, WavewrightError
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters
from wavewright.readers.counters import table as _table
from wavewright.readers.counters.names import number
from wavewright.readers.counters.table import chunks

HEAD = "Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT_sum,TCC_MISS_sum\n"


def opened(folder: Path, text: str | bytes, name: str = "pmc_perf.csv") -> CounterSet:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_counters(file)


def lost(found: CounterSet) -> dict[str, int]:
    return dict(found.losses.select("kind", "count").rows())


def measured(found: CounterSet, name: str) -> list[float | None]:
    return found.measured[0][name].to_list()


def test_duplicated_headers(tmp_path: Path) -> None:
    head = "Dispatch_ID,Kernel_Name,SQ_WAVES,SQ_WAVES,TCC_HIT_sum,TCC_HIT_sum,Kernel_Name\n"
    found = opened(tmp_path, head + "0,k,4,4,10,99,other\n1,k,5,5,11,98,other\n")
    assert measured(found, "SQ_WAVES") == [4, 5]
    assert measured(found, "TCC_HIT") == [10, 11]
    assert found.dispatches["kernel_name"].to_list() == ["k", "k"]
    assert lost(found)["counter_twice"] == 1  # the equal ones are no loss


def test_both_spellings_of_the_fabric_interface_stay(tmp_path: Path) -> None:
    head = "Dispatch_ID,Kernel_Name,TCC_EA0_WRREQ_sum,TCC_EA_WRREQ_sum\n"
    found = opened(tmp_path, head + "0,k,7,5\n")
    assert found.measured[0].select("TCC_EA0_WRREQ", "TCC_EA0_WRREQ_sum").rows() == [(5, 7)]


def test_quoted_numerics(tmp_path: Path) -> None:
    row = ",".join(f'"{word}"' for word in ("0", "1", "k", "100", "200", "16", "7.5", "1e3")) + "\n"
    found = opened(tmp_path, HEAD + row)
    assert found.measured[0].select("SQ_WAVES", "TCC_HIT", "TCC_MISS").rows() == [(16, 7.5, 1000)]
    assert found.dispatches.select("dispatch_id", "agent").rows() == [(0, "1")]
    assert not lost(found)


@pytest.mark.parametrize("cell", ["12,5", "1,234", "1,234,567", "1.234,5", "0,125"])
def test_numbers_with_commas_are_a_loss(cell: str, tmp_path: Path) -> None:
    found = opened(tmp_path, HEAD + f'0,1,k,100,200,16,"{cell}",5\n')
    assert found.measured[0].select("SQ_WAVES", "TCC_HIT", "TCC_MISS").rows() == [(16, None, 5)]
    assert lost(found) == {"counter_numbers": 1}


def test_semicolons_between_fields(tmp_path: Path) -> None:
    rows = (HEAD + "0,1,k,100,200,16,7.5,8\n1,1,k,300,400,16,7#5,8\n").replace(",", ";").replace("#", ",")
    found = opened(tmp_path, rows)
    assert found.measured[0].select("SQ_WAVES", "TCC_HIT", "TCC_MISS").rows() == [(16, 7.5, 8), (16, None, 8)]
    assert lost(found) == {"counter_numbers": 1}


def test_numbers_that_are_no_counts(tmp_path: Path) -> None:
    rows = "0,1,k,100,200,16,-5,inf\n1,1,k,300,400,16,nan,\n2,1,k,500,600,16,abc,7\n"
    found = opened(tmp_path, HEAD + rows)
    assert measured(found, "TCC_HIT") == [None, None, None]
    assert measured(found, "TCC_MISS") == [None, None, 7]
    assert lost(found) == {"counter_numbers": 3}  # NaN and nothing mean: not measured


def test_rows_without_a_kernel_or_with_other_fields(tmp_path: Path) -> None:
    rows = "0,1,k,100,200,16,5,6\n1,1,,300,400,16,5,6\n2,1,f(int, int),500,600,16,5,6\n"
    rows += "3,1,k,700,800,16\n4,1,k,1,2,16,5,6\n"
    found = opened(tmp_path, HEAD + rows)
    assert found.dispatches["dispatch_id"].to_list() == [0, 4]  # a shifted row has wrong numbers in it
    assert found.losses["kind"].to_list() == ["counter_rows", "counter_rows"]
    assert found.losses["count"].sum() == 3


def test_a_file_that_ends_inside_a_row(tmp_path: Path) -> None:
    whole = HEAD + "0,1,k,1000000000,1000000200,16,5.0,60.0\n1,1,k,1000000300,1000000400,17,5.0,61.0\n"
    for cut in range(1, len("1,1,k,1000000300,1000000400,17,5.0,61.0\n")):
        found = opened(tmp_path, whole[:-cut])
        waves = measured(found, "SQ_WAVES")
        assert waves[0] == 16
        assert waves in ([16], [16, 17])
        assert measured(found, "TCC_MISS")[1:] in ([], [61.0])
        if len(waves) == 1 and cut < 39:
            assert lost(found) == {"counter_rows": 1}


def test_a_last_row_without_line_end_is_taken_but_for_a_number_that_may_be_cut(tmp_path: Path) -> None:
    found = opened(tmp_path, HEAD + "0,1,k,100,200,16,5,6.0\n1,1,k,300,400,17,5,6.5")
    assert measured(found, "TCC_MISS") == [6.0, 6.5]
    assert not lost(found)
    found = opened(tmp_path, HEAD + "0,1,k,100,200,16,5,6\n1,1,k,300,400,17,5,6")
    assert measured(found, "SQ_WAVES") == [16, 17]
    assert measured(found, "TCC_MISS") == [6, None]  # 6 of 61, perhaps
    assert lost(found) == {"counter_cut": 1}


def test_a_header_alone(tmp_path: Path) -> None:
    found = opened(tmp_path, HEAD)
    assert (found.dispatches.height, found.passes.height) == (0, 1)


def test_other_encodings(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + HEAD.encode().replace(b"\n", b"\r\n") + b"0,1,caf\xe9,100,200,16,5,6\r\n"
    found = opened(tmp_path, text)
    assert found.dispatches["kernel_name"].to_list() == ["caf�"]
    assert measured(found, "TCC_MISS") == [6]
    with pytest.raises(NotATraceError):
        opened(tmp_path, (HEAD + "0,1,k,100,200,16,5,6\n").encode("utf-16"))


def test_a_gigantic_field_costs_its_row(tmp_path: Path) -> None:
    giant = "x" * 300_000
    found = opened(tmp_path, HEAD + f"0,1,k,100,200,16,{giant},6\n1,1,k,300,400,17,5,6\n")
    assert measured(found, "SQ_WAVES") == [17]
    assert lost(found) == {"counter_rows": 1}


def test_kernel_names_with_line_ends_and_quotes(tmp_path: Path) -> None:
    found = opened(tmp_path, HEAD + '0,1,"a ""b"",\n c",100,200,16,5,6\n')
    assert found.dispatches["kernel_name"].to_list() == ['a "b",\n c']


def test_chunks_end_where_lines_end(tmp_path: Path) -> None:
    text = HEAD + "".join(f'{n},1,"name, with\nline {n}",{n}0,{n}5,{n},5,6\n' for n in range(200))
    file = tmp_path / "pmc_perf.csv"
    file.write_text(text)
    for size in (1, 7, 100, 1000, 1 << 20):
        parts = list(chunks(file, size))
        assert b"".join(parts).decode() == text
        assert all(part.count(b'"') % 2 == 0 and part.endswith(b"\n") for part in parts)


def test_a_quote_that_never_closes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "_MAX_LINE", 1000)
    file = tmp_path / "pmc_perf.csv"
    file.write_text(HEAD + '0,1,"open,' + "1,2,3\n" * 1000)
    with pytest.raises(NotATraceError, match="never closes"):
        list(chunks(file, 64))


def test_a_packed_file_is_not_unpacked_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "MAX_BYTES", 1 << 20)
    file = tmp_path / "pmc_perf.csv.gz"
    file.write_bytes(gzip.compress(HEAD.encode() + b"0,1,k,1,2,3,4,5\n" * (1 << 18)))
    with pytest.raises(NotATraceError, match="of CSV"):
        open_counters(file)


def test_counters_of_users_and_text_beside_them(tmp_path: Path) -> None:
    found = opened(tmp_path, "Dispatch_ID,Kernel_Name,SQ_WAVES,MyMetric,Remark\n0,k,4,2.5,hello\n1,k,4,,world\n")
    assert found.measured[0].columns == ["dispatch", "SQ_WAVES", "MyMetric"]
    assert measured(found, "MyMetric") == [2.5, None]


@given(st.floats(0, 1e15) | st.integers(0, 10**15))
def test_numbers_as_python_writes_them(value: float) -> None:
    assert number(str(value)) == value


@cache
def specimen() -> dict[str, bytes]:
    """The files of a sound capture."""
    with TemporaryDirectory() as folder:
        made = write_counters(Path(folder) / "w", CounterCapture("gfx908", with_channels=False))
        return {file.name: file.read_bytes() for file in made.folder.iterdir()}


def with_file(folder: str, name: str, text: bytes) -> Path:
    for other, content in specimen().items():
        Path(folder, other).write_bytes(text if other == name else content)
    return Path(folder)


@settings(deadline=None, max_examples=examples(40))
@given(st.data())
def test_damage_gives_the_sound_rows_or_one_clear_error(data: st.DataObject) -> None:
    """Bytes cut out, put in or changed: tables fit together, and no number is negative or infinite."""
    name = data.draw(st.sampled_from(["pmc_perf.csv", "SQ_LEVEL_WAVES.csv", "sysinfo.csv", "roofline.csv"]))
    text = bytearray(specimen()[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(0, len(text) - 1)))
        piece = data.draw(st.sampled_from([b"", b'"', b",", b"\n", b"\0", b"\xff", b"-", b"nan", b"9" * 400, b"\r\n"]))
        text[place : place + data.draw(st.integers(0, 60))] = piece
    with TemporaryDirectory() as folder:
        try:
            found = open_counters(with_file(folder, name, bytes(text)))
        except WavewrightError as error:
            assert error.advice
            return
    for number_of_pass, frame in found.measured.items():
        assert frame["dispatch"].is_unique().all()
        assert frame["dispatch"].is_in(found.dispatches["dispatch"].to_list()).all()
        listed = found.counters.filter(pl.col("pass") == number_of_pass)["column"]
        assert frame.columns[1:] == listed.to_list()
        numbers = frame.drop("dispatch")
        if numbers.width and numbers.height:
            lowest = numbers.min_horizontal().min()
            assert lowest is None or lowest >= 0
            assert numbers.sum_horizontal().is_finite().all()


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(40))
@given(st.integers(0, 10**6))
def test_a_cut_capture_never_has_other_numbers(place: int) -> None:
    text = specimen()["pmc_perf.csv"]
    with TemporaryDirectory() as folder:
        whole = open_counters(with_file(folder, "pmc_perf.csv", text))
        try:
            found = open_counters(with_file(folder, "pmc_perf.csv", text[: 1 + place % len(text)]))
        except WavewrightError:
            return
    if found.passes["name"][0] != "pmc_perf":
        return
    cut = found.measured[0].drop("dispatch")
    for name in cut.columns:
        if name in whole.measured[0].columns:
            assert cut[name].to_list() == whole.measured[0][name].to_list()[: cut.height]
