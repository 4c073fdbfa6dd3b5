from __future__ import annotations

import json
import re
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED
from tests.kit.processor import processor_s
from tests.kit.sampling import every_third
from tests.kit.together import together
from wavewright import _core
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.trace.waits import match_waits

Entry = tuple[int, list[int]]  # (wait row, producer rows)


def code_of(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"row": range(len(texts)), "text": texts}, schema={"row": pl.Int32, "text": pl.String})


def executed(rows: list[int], waves: list[int] | None = None) -> pl.DataFrame:
    columns = {"wave": waves or [0] * len(rows), "row": rows}
    return pl.DataFrame(columns, schema={"wave": pl.UInt32, "row": pl.Int32})


def entries(waits: pl.DataFrame) -> dict[int, list[Entry]]:
    """The `waitcnt` list of every wave, rebuilt from the table."""
    lists: dict[int, list[Entry]] = defaultdict(list)
    last = None
    for wave, instruction, row, _, producer_row, counter in waits.iter_rows():
        if (instruction, counter) != last:
            lists[wave].append((row, []))
            last = (instruction, counter)
        lists[wave][-1][1].append(producer_row)
    return dict(lists)


def matched(texts: list[str], gfxip: int, rows: list[int] | None = None) -> list[Entry]:
    """Entries of one wave that executes `rows`, by default every text once."""
    ran = executed(list(range(len(texts))) if rows is None else rows)
    return entries(match_waits(ran, code_of(texts), gfxip)).get(0, [])


# --- real traces -----------------------------------------------------------------------------------------------------

DATA = SHARED / "data"
FOLDERS = [p.parent for kind in ("att-mi300x-bmm", "uiout-mi350x-flydsl") for p in DATA.glob(f"{kind}/**/code.json")]
ARCHIVES = list(DATA.glob("uiout-mi350x-flydsl/**/*.tar.xz"))


def stored(path: Path) -> dict[str, bytes]:
    """The files of a ui_output directory, by name."""
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
    with tarfile.open(path) as archive:
        members = [(Path(member.name).name, archive.extractfile(member)) for member in archive if member.isfile()]
        return {name: stream.read() for name, stream in members if stream is not None}


@pytest.mark.first_case
@pytest.mark.skipif(not FOLDERS, reason="../shared/data is not here")
@pytest.mark.parametrize("path", every_third(sorted(FOLDERS + ARCHIVES)), ids=lambda path: str(path.relative_to(DATA)))
def test_every_stored_wait_list_is_reproduced(path: Path) -> None:
    files = stored(path)
    code = [(row[2], row[0]) for row in json.loads(files["code.json"])["code"] or []]
    waves: list[int] = []
    rows: list[int] = []
    expected: dict[int, list[Any]] = {}
    for number, name in enumerate(sorted(name for name in files if "_wv" in name)):
        wave = json.loads(files[name])["wave"]
        waves += [number] * len(wave["instructions"])
        rows += [instruction[4] for instruction in wave["instructions"]]
        if wave["waitcnt"]:
            expected[number] = [(wait, [line for line, _ in producers]) for wait, producers in wave["waitcnt"]]
    frame = pl.DataFrame(code, schema={"row": pl.Int32, "text": pl.String}, orient="row")
    gfxip = json.loads(files["filenames.json"])["gfxip"]
    assert entries(match_waits(executed(rows, waves), frame, gfxip)) == expected


# --- against a plain reading of the rules -----------------------------------------------------------------------------

COUNTERS = {
    9: "lgkm vm",
    10: "vs vm lgkm",
    11: "vs vm lgkm",
    12: "bvh exp sample km store load tensor async ds",
}
FLATS = {  # counter -> FLAT lists in front of and behind its own operations
    9: {"lgkm": ("loads", ""), "vm": ("loads", "")},
    10: {"vs": ("stores", ""), "vm": ("loads", ""), "lgkm": ("loads", "stores")},
    12: {"store": ("stores", ""), "load": ("loads", ""), "ds": ("loads", "stores")},
}
FLATS[11] = FLATS[10]


def queue_of(text: str, gfxip: int) -> tuple[str, int, bool] | None:
    """(queue or FLAT list, how often, whether order is lost) of a memory operation; None for everything else."""
    modern = gfxip >= 12
    scalar = "km" if modern else "lgkm"
    if text.startswith(("s_load", "s_store")):
        return scalar, 1, True
    if text.startswith("s_sendmsg"):
        return scalar, 2 if gfxip > 9 and text.startswith("s_sendmsg_rtn") else 1, False
    if text.startswith(("v_", "s_")):
        return None
    if modern and "_bvh" in text:
        return "bvh", 1, False
    if modern and re.match(".?ds_", text):
        return "exp" if "param_load" in text or "ds_direct" in text else "ds", 1, False
    if modern and re.match(".?tensor_", text):
        return "tensor", 1, False
    if modern and re.match("global_(load|store)_async_", text):
        return "async", 1, False
    if modern and "_prefetch_" in text:
        return None
    stores = gfxip > 9 and ("store" in text or (modern and text.startswith("global_wb")))
    if re.match("global_|.?buffer_|scratch_", text):
        return ("store" if stores else "load") if modern else ("vs" if stores else "vm"), 1, False
    if text.startswith("flat_"):
        return "stores" if stores else "loads", 1, True
    return ("lgkm", 1, False) if text.startswith("ds_") else None


def value_of(text: str, counter: str) -> int:
    found = re.search(rf"{counter}cnt.\s*(0x[0-9a-f]+|[0-9]+)?", text)
    return int(found[1], 0) if found and found[1] else 0


def plain_match(texts: list[str], gfxip: int, rows: list[int]) -> list[Entry]:
    names = COUNTERS[gfxip].split()
    queues: dict[str, list[int]] = {name: [] for name in [*names, "loads", "stores"]}
    disordered: set[str] = set()
    found: list[Entry] = []
    for row in rows:
        text = texts[row]
        if text.startswith("s_wait_idle") and gfxip >= 12:
            order = ["load", "store", "sample", "ds", "km", "exp", "bvh", "tensor", "async"]
            producers = [line for name in order for line in queues[name]]
            for name in order:
                queues[name].clear()
            found += [(row, producers)] if producers else []
        elif text.startswith("s_wait" if gfxip > 9 else "s_waitcnt") and not text.startswith("s_wait_alu"):
            for name in (n for n in names if f"{n}cnt" in text):
                count = value_of(text, name)
                if count == 0:
                    disordered.discard(name)
                if name in disordered:
                    continue
                before, behind = FLATS[gfxip].get(name, ("", ""))
                done = max(len(queues[name]) - count, 0)
                producers = queues.get(before, []) + queues[name][:done]
                del queues[name][:done]
                queues.get(before, []).clear()
                if producers:
                    producers = producers + queues.get(behind, [])
                    queues.get(behind, []).clear()
                    found.append((row, producers))
        elif operation := queue_of(text, gfxip):
            queue, times, loses_order = operation
            queues[queue] += [row] * times
            if loses_order:
                flat = {c for c, lists in FLATS[gfxip].items() if queue in lists}
                disordered |= flat if queue in ("loads", "stores") else {queue}
    return found


OPERATIONS = [
    "v_add_f32 v0, v1, v2",
    "s_nop 0",
    "s_load_b64 s[0:1], s[2:3], 0x0",
    "s_store_dword s0, s[0:1], 0",
    "s_buffer_load_dword s0, s[0:3], 0",
    "s_sendmsg sendmsg(MSG_GS_DONE)",
    "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)",
    "global_load_dword v0, v[0:1], off",
    "global_store_dword v[0:1], v2, off",
    "buffer_load_dword v0, v1, s[0:3], 0 offen",
    "buffer_store_dword v0, v1, s[0:3], 0 offen",
    "tbuffer_load_format_x v0, v1, s[0:3], 0",
    "scratch_load_dword v0, off",
    "scratch_store_dword off, v0",
    "flat_load_dword v0, v[0:1]",
    "flat_store_dword v[0:1], v2",
    "ds_read_b32 v0, v1",
    "ds_store_b32 v0, v1",
    "lds_direct_load v0",
    "ds_param_load v0, attr0.x",
    "image_bvh_intersect_ray v[0:3], v[4:14], s[0:3]",
    "image_load v0, v1, s[0:7]",
    "global_wb scope:SCOPE_DEV",
    "global_inv scope:SCOPE_DEV",
    "global_prefetch_b8 v0, v1, off",
    "flat_prefetch_b8 v[0:1]",
    "tensor_load_to_lds s[0:3], s[4:11]",
    "global_load_async_to_lds_b32 v0, v1, off",
    "global_store_async_from_lds_b32 v0, v1, off",
]

numbers = st.sampled_from(["0", "1", "2", "3", "9"])
old_waits = st.one_of(
    st.builds("s_waitcnt {}cnt({})".format, st.sampled_from(["vm", "lgkm"]), numbers),
    st.builds("s_waitcnt vmcnt({}) expcnt(0) lgkmcnt({})".format, numbers, numbers),
    st.builds("s_waitcnt_vscnt null, 0x{}".format, numbers),
    st.sampled_from(["s_waitcnt 0", "s_waitcnt_depctr 0xfffe"]),
)
new_waits = st.one_of(
    st.builds("s_wait_{}cnt 0x{}".format, st.sampled_from(COUNTERS[12].split()), numbers),
    st.builds("s_wait_{}cnt_dscnt 0x{}".format, st.sampled_from(["load", "store"]), numbers),
    st.sampled_from(["s_wait_idle", "s_wait_alu 0xfffd", "s_wait_kmcnt"]),
)


@st.composite
def runs(draw: st.DrawFn) -> tuple[int, list[str], list[int]]:
    gfxip = draw(st.sampled_from([9, 10, 11, 12]))
    texts = draw(st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=8))
    texts += draw(st.lists(new_waits if gfxip == 12 else old_waits, min_size=1, max_size=4))
    return gfxip, texts, draw(st.lists(st.integers(0, len(texts) - 1), max_size=40))


@given(runs())
def test_matching_follows_the_rules(run: tuple[int, list[str], list[int]]) -> None:
    gfxip, texts, rows = run
    assert matched(texts, gfxip, rows) == plain_match(texts, gfxip, rows)


# --- single rules, with their results written down --------------------------------------------------------------------


def test_a_wait_takes_the_oldest_and_leaves_the_rest() -> None:
    texts = ["global_load_dword v0", "global_load_dword v1", "global_load_dword v2", "s_waitcnt vmcnt(2)"]
    assert matched([*texts, "s_waitcnt vmcnt(0)"], 9) == [(3, [0]), (4, [1, 2])]


def test_several_counters_give_one_entry_each_in_the_writers_order() -> None:
    texts = ["global_load_dword v0", "ds_read_b32 v1, v2", "global_store_dword v0, v1", "s_waitcnt vmcnt(0) lgkmcnt(0)"]
    waits = match_waits(executed([0, 1, 2, 3]), code_of(texts), 9)
    assert waits["counter"].to_list() == ["lgkmcnt", "vmcnt", "vmcnt"]
    assert waits["producer"].to_list() == [1, 0, 2]
    assert waits["instruction"].to_list() == [3, 3, 3]
    assert waits.schema == {c.name: getattr(pl, c.dtype) for c in THREAD_TRACE["waits"].columns}


def test_scalar_loads_return_in_any_order_until_all_are_awaited() -> None:
    texts = ["s_load_dword s0, s[0:1], 0x0", "ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"]
    assert matched(texts, 9) == [(3, [0, 1])]


def test_flat_operations_belong_to_whichever_counter_is_awaited_first() -> None:
    texts = ["flat_load_dword v0, v[0:1]", "global_load_dword v1", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"]
    assert matched(texts, 9) == [(2, [0]), (3, [1])]


def test_messages_with_an_answer_count_twice() -> None:
    texts = ["s_sendmsg_rtn_b32 s0, sendmsg(1)", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"]
    assert matched(texts, 11) == [(1, [0]), (2, [0])]


def test_idle_is_one_entry_of_its_own_counter() -> None:
    texts = ["ds_load_b32 v0, v1", "global_load_b32 v0, v1, off", "s_wait_idle"]
    waits = match_waits(executed([0, 1, 2]), code_of(texts), 12)
    assert entries(waits) == {0: [(2, [1, 0])]}
    assert waits["counter"].unique().to_list() == ["idle"]


@together(
    "wait, left",
    [("vmcnt(0x2)", 2), ("vmcnt( 2)", 2), ("vmcnt", 0), ("vmcnt(", 0), ("vmcnt(99999999999999)", 3), ("vmcnt(-1)", 0)],
)
def test_odd_spellings_of_the_number(wait: str, left: int) -> None:
    texts = ["global_load_dword v0", "global_load_dword v1", "global_load_dword v2", f"s_waitcnt {wait}"]
    assert matched(texts, 9) == ([(3, [0, 1, 2][: 3 - left])] if left < 3 else [])


def test_waves_do_not_share_what_is_in_flight() -> None:
    code = code_of(["global_load_dword v0", "s_waitcnt vmcnt(0)"])
    ran = executed([0, 1, 0, 1], waves=[4, 5, 5, 5])
    assert entries(match_waits(ran, code, 9)) == {5: [(1, [0])]}


def test_instructions_without_a_pc_are_passed_over_and_unknown_text_ends_the_wave() -> None:
    code = code_of(["global_load_dword v0", "s_waitcnt vmcnt(0)", ""])
    assert entries(match_waits(executed([0, -1, 1]), code, 9)) == {0: [(1, [0])]}
    for unknown in (2, 3, 2**31 - 1):
        ran = executed([0, 1, unknown, 0, 1, 0, 1], waves=[0, 0, 0, 0, 0, 1, 1])
        assert entries(match_waits(ran, code, 9)) == {0: [(1, [0])], 1: [(1, [0])]}


def test_foreign_row_numbers_may_have_gaps_and_repeat() -> None:
    rows = [7, 7, 2_000_000_000]
    texts = ["; label", "global_load_dword v0", "s_waitcnt vmcnt(0)"]
    code = pl.DataFrame({"row": rows, "text": texts}, schema={"row": pl.Int32, "text": pl.String})
    ran = executed([7, -1, 2_000_000_000, 8, 7, 2_000_000_000])
    assert entries(match_waits(ran, code, 9)) == {0: [(2_000_000_000, [7])]}


def test_columns_may_come_in_several_chunks() -> None:
    code = code_of(["global_load_dword v0", "s_waitcnt vmcnt(0)"])
    ran = pl.concat([executed([0]), executed([1, 0]), executed([]), executed([1])], rechunk=False)
    assert ran.n_chunks() > 1
    assert entries(match_waits(ran, code, 9)) == {0: [(1, [0]), (1, [0])]}


def test_nothing_in_nothing_out() -> None:
    code = code_of(["s_waitcnt vmcnt(0)"])
    assert match_waits(executed([]), code, 9).height == 0
    assert match_waits(executed([0]), code, 0).schema == match_waits(executed([0]), code, 9).schema


def test_bad_columns_are_refused() -> None:
    wave, row = pl.Series([0], dtype=pl.UInt32), pl.Series([0], dtype=pl.Int32)
    with pytest.raises(TypeError, match="Arrow type 'l' where 'i' is needed"):
        _core.match_waits([""], 9, wave, row.cast(pl.Int64))
    with pytest.raises(TypeError, match="no __arrow_c_stream__"):
        _core.match_waits([""], 9, [0], row)
    with pytest.raises(ValueError, match="nulls"):
        _core.match_waits([""], 9, wave, pl.Series([None], dtype=pl.Int32))
    with pytest.raises(ValueError, match="differ in length"):
        _core.match_waits([""], 9, wave, pl.Series([0, 0], dtype=pl.Int32))
    with pytest.raises(ValueError, match="gfxip"):
        _core.match_waits([""], 8, wave, row)


def test_deep_queues_stay_linear() -> None:
    count = 1_000_000
    code = code_of(["global_load_dword v0", f"s_waitcnt vmcnt({count // 2})"])
    ran = executed([0] * (count // 2) + [0, 1] * (count // 4))
    begin = processor_s()
    waits = match_waits(ran, code, 9)
    assert waits.height == count // 4
    assert processor_s() - begin < 5  # quadratic behaviour would take hours
