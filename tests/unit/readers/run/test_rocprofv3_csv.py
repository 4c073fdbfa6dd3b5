from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from wavewright.errors import NotATraceError
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
)
API = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
AGENTS = (
    '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Simd_Count","Wave_Front_Size","Max_Waves_Per_Simd",'
    '"Lds_Size_In_Kb","Name","Vendor_Name","Product_Name","Model_Name"\n'
    '0,0,"CPU",64,0,0,0,0,"EPYC","CPU","EPYC",""\n'
    '3,1,"GPU",304,1216,64,8,64,"gfx942","AMD","MI300X","aqua"\n'
    '4,2,"GPU",304,1216,64,8,64,"gfx942","AMD","MI300X","aqua"\n'
)


def kernel(
    dispatch: int, name: str = '"k"', begin: object = 10, end: object = 30, agent: str = '"Agent 1"', tid: int = 7
) -> str:
    return (
        f'"KERNEL_DISPATCH",{agent},1,0,{tid},{dispatch},5,{name},{dispatch},{begin},{end},0,0,8,0,16,64,1,1,128,1,1\n'
    )


@pytest.mark.parametrize("name", ["run[1]", "run[1", "a*", "?", "{x}"])
def test_a_path_is_no_pattern(tmp_path: Path, name: str) -> None:
    """Libraries of tables take brackets as patterns: the file of another folder would be read without a word."""
    for folder, count in ((name, 1), ("run1", 2), ("ab", 2), ("x", 2)):
        (tmp_path / folder).mkdir()
        rows = "".join(kernel(n, begin=n * 100, end=n * 100 + 10) for n in range(count))
        (tmp_path / folder / "a_kernel_trace.csv").write_text(KERNEL + rows)
    assert open_run(tmp_path / name / "a_kernel_trace.csv").dispatches.height == 1
    assert open_run(tmp_path / name).dispatches.height == 1


def test_files_that_begin_alike_are_one_run(tmp_path: Path) -> None:
    (tmp_path / "41_kernel_trace.csv").write_text(KERNEL + kernel(1) + kernel(2, agent='"Agent 2"'))
    (tmp_path / "41_hip_api_trace.csv").write_text(API + '"HIP_RUNTIME_API","hipLaunchKernel",41,7,1,5,8\n')
    (tmp_path / "41_agent_info.csv").write_text(AGENTS)
    (tmp_path / "42_kernel_trace.csv").write_text(KERNEL + kernel(1))
    run = open_run(tmp_path)
    assert [origin.path for origin in run.origins] == [
        str(tmp_path / "41_*.csv"),
        str(tmp_path / "42_kernel_trace.csv"),
    ]
    assert run.processes["pid"].to_list() == [41, 42]
    assert run.dispatches.select("process", "agent", "thread").rows() == [(0, 1, 0), (0, 2, 0), (1, 3, 1)]
    gpu = run.agents.row(1, named=True)
    assert (gpu["target"], gpu["absolute_index"], gpu["type_index"], gpu["lds_bytes"]) == ("gfx942", 3, 0, 65536)
    assert run.regions.select("domain", "category", "function").rows() == [
        ("HIP", "HIP_RUNTIME_API", "hipLaunchKernel")
    ]


def test_columns_are_found_by_name_whatever_their_order_and_case(tmp_path: Path) -> None:
    text = (
        "Guid,Duration,End_Timestamp,Start_Timestamp,Kernel_Name,Lds_Block_Size,Agent_Id\n"
        'aa-1,20,30,10,"f<int, 2>(x)",512,GPU 0\nbb-2,5,15,10,g,0,GPU 0\n'
    )
    with gzip.open(tmp_path / "out_kernel_trace.csv.gz", "wt") as file:
        file.write(text)
    run = open_run(tmp_path)
    assert run.processes["guid"].to_list() == ["aa-1", "bb-2"]
    assert run.dispatches.select("name", "start_ns", "end_ns", "lds_bytes", "process").rows() == [
        ("f<int, 2>(x)", 10, 30, 512, 0),
        ("g", 10, 15, 0, 1),
    ]
    assert run.agents.select("process", "kind", "type_index").rows() == [(0, "GPU", 0), (1, "GPU", 0)]


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    broken = kernel(2, begin='"soon"') + kernel(3, end=1 << 70) + '"KERNEL_DISPATCH","Agent 1",1,0,7,4,5,"cut'
    (tmp_path / "1_kernel_trace.csv").write_text(KERNEL + kernel(1) + "\n" + broken)
    run = open_run(tmp_path)
    assert run.dispatches["dispatch_id"].to_list() == [1]
    assert run.losses.select("kind", "count").rows() == [("cut_file", 1), ("malformed_events", 3)]


def test_times_with_a_fraction(tmp_path: Path) -> None:
    (tmp_path / "1_kernel_trace.csv").write_text(KERNEL + kernel(1, begin="10.0", end="30.5") + kernel(2))
    run = open_run(tmp_path)
    assert run.dispatches.select("start_ns", "end_ns").rows() == [(10, 30), (10, 30)]
    assert not run.losses.height


def test_rows_swallowed_by_an_open_quote_are_counted(tmp_path: Path) -> None:
    rows = kernel(1) + kernel(2, name='"open " quote"') + kernel(3) + kernel(4)
    (tmp_path / "1_kernel_trace.csv").write_text(KERNEL + rows)
    run = open_run(tmp_path)
    assert run.losses["count"].sum() + run.dispatches.height == 4


def test_line_breaks_and_commas_in_names_are_no_loss(tmp_path: Path) -> None:
    (tmp_path / "1_marker_api_trace.csv").write_text(API + '"MARKER_CORE_API","a\nb, ""c""",1,1,1,5,9\n')
    run = open_run(tmp_path)
    assert run.regions["name"].to_list() == ['a\nb, "c"']
    assert not run.losses.height


def test_files_put_together_repeat_the_header(tmp_path: Path) -> None:
    one, two = ('"HIP_RUNTIME_API","hipInit",%d,%d,1,5,9\n' % (pid, pid) for pid in (3, 4))  # noqa: UP031
    (tmp_path / "all_hip_api_trace.csv").write_text(API + one + API + two)
    run = open_run(tmp_path)
    assert run.processes["pid"].to_list() == [3, 4]
    assert run.regions["process"].to_list() == [0, 1]
    assert not run.losses.height


def test_threads_tell_the_process_of_dispatches(tmp_path: Path) -> None:
    calls = '"HIP_RUNTIME_API","hipInit",3,30,1,5,9\n"HIP_RUNTIME_API","hipInit",4,40,1,5,9\n'
    (tmp_path / "all_hip_api_trace.csv").write_text(API + calls)
    (tmp_path / "all_kernel_trace.csv").write_text(KERNEL + kernel(1, tid=40) + kernel(1, tid=30))
    assert open_run(tmp_path).dispatches["process"].to_list() == [1, 0]


def test_counters_belong_to_dispatches(tmp_path: Path) -> None:
    header = (
        '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
        '"Kernel_Name","Workgroup_Size","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n'
    )
    rows = "".join(
        f'{d},{d},"Agent 1",1,9,9,128,5,"k",64,"{counter}",{value},{d}0,{d}5\n'
        for d in (1, 2)
        for counter, value in (("SQ_WAVES", "2.5"), ("GRBM_COUNT", "1e3"))
    )
    (tmp_path / "9_counter_collection.csv").write_text(header + rows)
    (tmp_path / "9_kernel_trace.csv").write_text(KERNEL + kernel(2))
    run = open_run(tmp_path)
    assert run.dispatches["dispatch_id"].to_list() == [2, 1]
    told = run.counters.select("counter", "event", "value").join(
        run.counter_info.select("counter", "name"), on="counter"
    )
    told = told.join(run.dispatches.select("event", "dispatch_id"), on="event")
    assert told.select("dispatch_id", "name", "value").sort("dispatch_id", "name").rows() == [
        (1, "GRBM_COUNT", 1000.0),
        (1, "SQ_WAVES", 2.5),
        (2, "GRBM_COUNT", 1000.0),
        (2, "SQ_WAVES", 2.5),
    ]


def test_allocations_in_the_words_of_rocpd(tmp_path: Path) -> None:
    (tmp_path / "1_memory_allocation_trace.csv").write_text(
        '"Kind","Operation","Agent_Id","Allocation_Size","Address","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
        '"MEMORY_ALLOCATION","MEMORY_ALLOCATION_ALLOCATE","Agent 1",1024,"0x00007ffb26354000",1,5,9\n'
        '"MEMORY_ALLOCATION","MEMORY_ALLOCATION_VMEM_FREE","",0,"0x00007ffb26354000",2,12,11\n'
    )
    run = open_run(tmp_path)
    assert run.allocations.select("type", "level", "address", "size_bytes", "start_ns", "end_ns").rows() == [
        ("ALLOC", "REAL", 0x7FFB26354000, 1024, 5, 9),
        ("FREE", "VIRTUAL", 0x7FFB26354000, 0, 12, 12),
    ]
    assert run.losses["kind"].to_list() == ["backward_times"]


def test_statistics_alone_are_no_run(tmp_path: Path) -> None:
    stats = tmp_path / "1_kernel_stats.csv"
    stats.write_text('"Name","Calls","TotalDurationNs"\n"k",1,5\n')
    with pytest.raises(NotATraceError, match="statistics of a run"):
        open_run(stats)


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress((KERNEL + kernel(1) * 1000).encode())
    (tmp_path / "1_kernel_trace.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(NotATraceError, match="damaged gzip"):
        open_run(tmp_path)


def test_rows_that_are_shorter_or_longer_than_the_header(tmp_path: Path) -> None:
    """Also where the first row is: the header tells how many columns there are."""
    (tmp_path / "short_kernel_trace.csv").write_text(KERNEL + kernel(1).rsplit(",", 3)[0] + "\n" + kernel(2))
    (tmp_path / "long_kernel_trace.csv").write_text(KERNEL + kernel(1).strip() + ",1,2\n" + kernel(2))
    for name, grids in (("short", [None, 128]), ("long", [128, 128])):
        run = open_run(tmp_path / f"{name}_kernel_trace.csv")
        assert run.dispatches.select("start_ns", "end_ns").rows() == [(10, 30), (10, 30)]
        assert run.dispatches["grid_x"].to_list() == grids


def test_dispatches_that_the_kernel_trace_does_not_number(tmp_path: Path) -> None:
    """ROCm 6.2: only the counters have ids. The launch of a graph (call 5) makes two dispatches of one kernel."""
    calls = [(4, "a", 1, 10), (5, "b", 3, 50), (5, "b", 2, 30), (6, "a", 4, 70)]
    head = '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    rows = [f'"KERNEL_DISPATCH",1,1,2,"{name}",{call},{start},{start + 5}\n' for call, name, _, start in calls]
    (tmp_path / "r_kernel_trace.csv").write_text(head + "".join(rows))
    head = '"Correlation_Id","Dispatch_Id","Agent_Id","Process_Id","Kernel_Name","Counter_Name","Counter_Value"\n'
    counted = [f'{call},{at},1,18,"{name}","SQ_WAVES",{100 * at}\n' for call, name, at, _ in calls[:3]]
    (tmp_path / "r_counter_collection.csv").write_text(head + "".join(counted))
    run = open_run(tmp_path)
    assert run.dispatches.select("name", "start_ns", "dispatch_id").rows() == [
        ("a", 10, 1),
        ("b", 50, 3),
        ("b", 30, 2),
        ("a", 70, None),
    ]
    values = dict(run.counters.select("event", "value").rows())
    assert {run.dispatches["start_ns"][event]: value for event, value in values.items()} == {10: 100, 50: 300, 30: 200}
    assert run.losses.height == 0
