from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.model.counters import COUNTER_SET
from wavewright.readers.counters import open_counters

HEAD = (
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",'
    '"Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name",'
    '"Counter_Value","Start_Timestamp","End_Timestamp"\n'
)


def long_row(
    dispatch: object, counter: str, value: object, *, kernel: str = "k", begin: object = 1000, end: object = 2000
) -> str:
    return (
        f'{dispatch},{dispatch},"Agent 1",1,7,7,1024,3,"{kernel}",256,0,0,16,0,112,"{counter}",{value},{begin},{end}\n'
    )


def write(path: Path, *rows: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(rows))
    return path


def test_the_long_form(tmp_path: Path) -> None:
    file = write(
        tmp_path / "out_counter_collection.csv",
        long_row(1, "TCC_HIT_sum", "17.000000"),
        long_row(1, "TCC_MISS_sum", "9.83e+02"),
        long_row(2, "TCC_HIT_sum", "5", begin=3000, end=4000),
    )
    found = open_counters(file)
    for name, spec in COUNTER_SET.items():
        assert found.table(name).columns == [column.name for column in spec.columns]
    assert found.origin_ns == 1000
    assert found.dispatches.select("dispatch", "dispatch_id", "start_ns", "end_ns").rows() == [
        (0, 1, 0, 1000),
        (1, 2, 2000, 3000),
    ]
    assert found.values.select("dispatch", "pass", "counter", "value").rows() == [
        (0, 0, "TCC_HIT", 17.0),
        (1, 0, "TCC_HIT", 5.0),
        (0, 0, "TCC_MISS", 983.0),
    ]
    assert found.counters["spelled"].to_list() == ["TCC_HIT_sum", "TCC_MISS_sum"]
    assert found.losses.height == 0


def test_quoted_numbers_and_kernel_suffixes(tmp_path: Path) -> None:
    name = "void k<int>(float, int) [clone .kd]"
    fields = ("1", "1", "Agent 1", "1", "7", "7", "64", "3", name, "64", "0", "0", "16", "0", "112", "A_sum", "2.5")
    row = ",".join(f'"{field}"' for field in (*fields, "10", "20")) + "\n"
    found = open_counters(write(tmp_path / "a_counter_collection.csv", row))
    assert found.dispatches["kernel_name"].to_list() == ["void k<int>(float, int)"]
    assert found.values["value"].to_list() == [2.5]


def test_files_below_a_folder_are_passes_over_the_same_dispatches(tmp_path: Path) -> None:
    write(tmp_path / "pass_1/out_counter_collection.csv", long_row(1, "TCC_HIT_sum", 1, begin=10, end=20))
    write(tmp_path / "pass_2/out_counter_collection.csv", long_row(1, "TCC_HIT_sum", 2, begin=90, end=95))
    found = open_counters(tmp_path)
    assert found.passes.select("pass", "run", "name").rows() == [(0, 0, "pass_1"), (1, 1, "pass_2")]
    assert found.dispatches.height == 1
    assert found.values.rows() == [(0, 0, "TCC_HIT", None, 1.0), (0, 1, "TCC_HIT", None, 2.0)]
    assert found.executions.select("dispatch", "pass", "start_ns").rows() == [(0, 0, 0.0), (0, 1, 80.0)]
    assert found.losses.height == 0


def test_passes_whose_rows_stand_in_another_order(tmp_path: Path) -> None:
    """The second pass has other ids, and wrote its dispatches last first: ids tell which one is the first launch."""
    write(tmp_path / "pass_1/out_counter_collection.csv", long_row(1, "SQ_WAVES", 11), long_row(2, "SQ_WAVES", 22))
    others = [long_row(12, "TCC_HIT_sum", 222), long_row(11, "TCC_HIT_sum", 111)]
    write(tmp_path / "pass_2/out_counter_collection.csv", *others)
    found = open_counters(tmp_path)
    values = {(dispatch, name): value for dispatch, _, name, _, value in found.values.rows()}
    assert (values[0, "SQ_WAVES"], values[0, "TCC_HIT"]) == (11, 111)
    assert (values[1, "SQ_WAVES"], values[1, "TCC_HIT"]) == (22, 222)


def test_numbers_of_thousands_of_digits(tmp_path: Path) -> None:
    """Python refuses to make integers of them."""
    rows = [long_row(n, "SQ_WAVES", 1).replace("Agent 1", agent) for n, agent in ((1, "7" * 5_000), (2, "9"), (3, "x"))]
    found = open_counters(write(tmp_path / "out_counter_collection.csv", *rows))
    assert found.dispatches["gpu"].to_list() == [1, 0, 2]
    with pytest.raises(UsageError, match="no kernel '111"):
        chosen_dispatches(found, CounterChoice(kernels=("1" * 5_000,)))


def test_passes_in_one_file_are_told_apart_by_their_times(tmp_path: Path) -> None:
    file = write(
        tmp_path / "out_counter_collection.csv",
        long_row(1, "A_sum", 1, begin=10, end=20),
        long_row(1, "B_sum", 2, begin=510, end=520),
    )
    found = open_counters(file)
    assert found.dispatches.height == 1
    assert [frame.columns[1:] for frame in found.measured.values()] == [["A"], ["B"]]


def test_broken_rows_are_losses(tmp_path: Path) -> None:
    file = write(
        tmp_path / "out_counter_collection.csv",
        long_row(1, "A_sum", 1),
        long_row(1, "B_sum", "garbage"),
        long_row("x", "A_sum", 1),
        long_row(2, "A_sum", "nan"),
        long_row(3, "A_sum", "1e999"),
        "1,2,3\n",
        long_row(1, "A_sum", 5),
    )
    found = open_counters(file)
    assert found.values["value"].to_list() == [1.0]
    assert sorted(found.losses.select("kind", "count").rows()) == [
        ("counter_numbers", 2),
        ("counter_rows", 1),
        ("counter_rows", 4),
        ("counter_twice", 1),
    ]


def test_the_wide_form_with_channels(tmp_path: Path) -> None:
    file = tmp_path / "pmc_perf.csv"
    file.write_text(
        "Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp,TCC_HIT_sum,TCC_HIT[0],TCC_HIT[17],wave_size_1\n"
        "0,2,k,100.5,200.5,30,10,20,64\n"
        "1,2,k,300,400,,,5,64\n"
    )
    (tmp_path / "sysinfo.csv").write_text("gpu_arch,gpu_model\ngfx942,MI300X_A1\n")
    found = open_counters(file)
    rows = set(found.values.rows())
    assert rows == {
        (0, 0, "TCC_HIT", None, 30.0),
        (0, 0, "TCC_HIT", 0, 10.0),
        (0, 0, "TCC_HIT", 17, 20.0),
        (1, 0, "TCC_HIT", 17, 5.0),
    }
    assert found.passes.row(0, named=True)["target"] == "gfx942"
    assert found.passes["is_joined"].to_list() == [True]
    assert found.dispatches.select("start_ns", "end_ns").rows() == [(0.5, 100.5), (200.0, 300.0)]


def test_gzip(tmp_path: Path) -> None:
    file = tmp_path / "a_counter_collection.csv.gz"
    file.write_bytes(gzip.compress((HEAD + long_row(1, "A_sum", 3)).encode()))
    assert open_counters(file).values["value"].to_list() == [3.0]
    file.write_bytes(file.read_bytes()[:-30] + b"damage")
    with pytest.raises(WavewrightError):
        open_counters(file)


@pytest.mark.parametrize(
    "content",
    [b"", b"   \n", b"\x7fELF\0\0\0\0", b"a,b\n1,2\n", b'"unclosed,b\n1,2\n', b"\xff\xfe\0x", b"Counter_Name\nx\n"],
)
def test_other_files_are_refused_kindly(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x_counter_collection.csv"
    file.write_bytes(content)
    with pytest.raises(NotATraceError) as caught:
        open_counters(file)
    assert caught.value.advice


def test_a_folder_without_counters(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no counters"):
        open_counters(tmp_path)


def test_a_header_alone_has_no_dispatches(tmp_path: Path) -> None:
    assert open_counters(write(tmp_path / "a_counter_collection.csv")).dispatches.height == 0


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_counters_or_one_clear_error(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x_counter_collection.csv"
        for head in (b"", HEAD.encode(), b"Dispatch_ID,Kernel_Name,TCC_HIT_sum\n"):
            file.write_bytes(head + content)
            try:
                open_counters(file)
            except WavewrightError as error:
                assert error.advice


def test_dies_and_caches_follow_from_the_product_where_nothing_says_them() -> None:
    from wavewright.model.counters import System
    from wavewright.readers.counters.system import system_of_row, with_facts

    assert with_facts(System(target="gfx1201")).xcd_count == 1
    assert with_facts(System(target="gfx90a")).xcd_count == 1
    assert with_facts(System(target="gfx942", product="MI300A")).xcd_count == 6
    assert with_facts(System(target="gfx942", product="MI300X", cu_count=38.0)).xcd_count is None
    row = {"gpu_arch": "gfx942", "max_mclk": "1300", "num_hbm_channels": "96", "hbm_bw": "5324.8"}
    assert with_facts(system_of_row(row, "sysinfo.csv")).memory_gb_per_second == 5324.8
    told = System(target="gfx908", cu_count=120.0, se_count=8.0, sqc_count=64.0)
    assert with_facts(told).sqc_count == 40
    assert with_facts(System(target="gfx942", cu_count=304.0, se_count=32.0, sqc_count=160.0)).sqc_count == 160


def test_ranks_with_a_folder_each_are_one_pass(tmp_path: Path) -> None:
    """Their processes ran at the same time, so their dispatches are different ones, whatever their ids."""
    for rank in (0, 1):
        rows = [long_row(n, "SQ_WAVES", 10 * rank + n).replace(",1,7,7,", f",1,{90 + rank},7,") for n in (1, 2)]
        write(tmp_path / f"rank_{rank}/out_counter_collection.csv", *rows)
    found = open_counters(tmp_path)
    assert found.passes.height == 1
    assert found.dispatches["process_id"].to_list() == [90, 90, 91, 91]
    assert found.measured[0]["SQ_WAVES"].to_list() == [1, 2, 11, 12]
