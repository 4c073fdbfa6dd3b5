"""Every number of a decoded directory against a second computation of it (`plain.py`), on real and on made ones."""

from __future__ import annotations

import json
import random
import shutil
import tarfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wavewright
from tests.golden import plain
from tests.golden.made_directories import make
from tests.kit.sampling import covering
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.compare import compare
from wavewright.analysis.trace.costs.hotspots import UNITS, hotspots
from wavewright.analysis.trace.costs.loops import loops
from wavewright.analysis.trace.costs.row_costs import hidden_latency, row_costs, row_totals
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.analysis.trace.occupancy import occupancy
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.stalls.classic import classic
from wavewright.analysis.trace.trust.mapping import mapping
from wavewright.analysis.trace.waits import waits
from wavewright.analysis.trace.waves.states import state_curves, states
from wavewright.model.schema import STATES
from wavewright.model.trace import ThreadTrace

FLYDSL = "data/uiout-mi350x-flydsl"
SMALL = (
    "blockscale_preshuffle_gemm/big/ui_output_agent_14065_dispatch_120",
    "fused_rope_cache/big/ui_output_agent_4253_dispatch_8781",
    "hgemm_splitk/big/ui_output_agent_4716_dispatch_319",
    "layernorm/big/ui_output_agent_22257_dispatch_23",
    "pa/big/ui_output_agent_10886_dispatch_209.tar.xz",
)
SUMS = ("hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total")
PARTS = ("idle", "stall", "issue")
LOOP = (
    "wave_count",
    "entry_count",
    "iteration_count",
    "trips_min",
    "trips_median",
    "trips_max",
    "iteration_cycles_min",
    "iteration_cycles_median",
    "iteration_cycles_max",
    "first_cycles_median",
    "steady_cycles_median",
    "last_cycles_median",
    "steady_stall_share",
)


class Both:
    """A directory, as wavewright and as plain Python read it."""

    def __init__(self, folder: Path) -> None:
        self.trace: ThreadTrace = wavewright.open(folder)
        self.plain = plain.read(folder)
        self.place = self.plain.place()
        self.totals = {self.place[row]: tuple(sums) for row, sums in plain.totals(self.plain).items()}

    def columns(self, frame: pl.DataFrame, *names: str) -> dict[Any, Any]:
        return {row[0]: row[1:] for row in frame.select(names).iter_rows()}


def check_totals(both: Both) -> None:
    assert both.trace.code["text"].to_list() == [row[0] for row in both.plain.code]
    assert both.columns(row_totals(both.trace), "row", *SUMS) == both.totals
    every = [sum(sums[part] for sums in both.totals.values()) for part in range(4)]
    for unit in UNITS:
        found = hotspots(both.trace, by=unit)
        assert [int(found.units[name].sum()) for name in SUMS] == every, unit
        assert [getattr(found, name) for name in SUMS] == every, unit
    for which, end in (("innermost", 0), ("outermost", -1)):
        for unit in ("line", "file"):
            sums: dict[str | None, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
            for number, row in enumerate(both.plain.code):
                line = row[3].split(" -> ")[end] or None
                name = line.rpartition(":")[0] if line and unit == "file" else line
                if number in both.totals:
                    sums[name] = [a + b for a, b in zip(sums[name], both.totals[number], strict=True)]
            got = both.columns(hotspots(both.trace, by=unit, attribution=which).units, "unit", *SUMS)
            assert got == {name: tuple(own) for name, own in sums.items()}


def check_waits(both: Both) -> None:
    got: dict[int, dict[tuple[int, str], list[int]]] = defaultdict(lambda: defaultdict(list))
    for wave, wait, producer, counter in both.trace.waits.select(
        "wave", "instruction", "producer", "counter"
    ).iter_rows():
        got[wave][wait, counter].append(producer)
    keys = both.trace.waves.select("se", "simd", "slot", "slot_wave", "wave", "first_instruction")
    waves = {row[:4]: row[4:] for row in keys.iter_rows()}
    for wave in both.plain.waves:
        number, first = waves[wave.se, wave.simd, wave.slot, wave.number]
        if both.plain.gfxip == 9:
            expected = plain.waits_gfx9(wave, both.plain.text)
        else:
            expected = plain.waits_rdna(wave, both.plain.text, both.plain.gfxip)
        found = [(wait - first, [one - first for one in some]) for (wait, _), some in got[number].items()]
        assert sorted(found) == sorted(expected)


def check_stalls(both: Both, *, classes: bool) -> None:
    found = stalls(both.trace)
    assert found.stall_cycles_total == sum(sums[2] for sums in both.totals.values())
    assert (found.by_row["exposed_stall_cycles_total"] <= found.by_row["stall_cycles_total"]).all()
    assert (found.by_row["exposed_stall_cycles_total"] >= 0).all()
    types = both.columns(classic(both.trace).types, "type", "stall_cycles_total")
    assert {name: cycles for name, (cycles,) in types.items()} == plain.classic(both.plain)
    if not classes:
        return
    ours: Counter[str] = Counter()
    renamed = dict.fromkeys(
        ("matrix dependency", "transcendental issue", "matrix pipe busy", "VALU pipe busy"), "VALU issue"
    )
    renamed |= {"wait for nothing": "nothing", "scalar pipe busy": "SALU issue"}
    renamed |= dict.fromkeys(("branch issue", "message issue", "other issue"), "rest")
    for name, cycles in found.classes.select("class", "stall_cycles_total").iter_rows():
        parts = "wait " + " + ".join(sorted(name.removeprefix("wait ").split(" + ")))
        ours[renamed.get(name) or (parts if name.startswith("wait ") else name)] += cycles
    assert {name: cycles for name, cycles in ours.items() if cycles} == plain.stall_classes(both.plain)


def check_hiding(both: Both) -> None:
    expected = {both.place[row]: tuple(sums) for row, sums in plain.hidden_latency(both.plain).items()}
    hidden = hidden_latency(both.trace, amd=True).by_row
    assert {row[0]: row[1:] for row in hidden.iter_rows()} == expected
    for row in row_costs(both.trace, amd=True).iter_rows(named=True):
        own = (
            row["idle_cycles_total"],
            row["stall_cycles_total"],
            row["latency_cycles_total"] - row["stall_cycles_total"],
        )
        exposed = [max(0, cycles - part) for cycles, part in zip(own, expected[row["row"]], strict=True)]
        assert [row[f"exposed_{part}_cycles_total"] for part in PARTS] == exposed


def check_states(both: Both) -> None:
    curves: dict[int, list[tuple[int, int]]] = defaultdict(list)
    found = state_curves(both.trace, per_se=False)
    for state, time, count in found.select("state", "time_cycles", "wave_count").iter_rows():
        curves[state].append((time, count))
    for state in (1, 2, 3, 4):
        assert curves.get(state, []) == plain.state_curve(both.plain, state)
    cycles = {STATES[state]: (sum_,) for state, sum_ in plain.state_cycles(both.plain).items() if sum_}
    shares = states(both.trace)
    assert both.columns(shares.total, "state", "cycles_total") == cycles
    assert shares.total["share"].sum() == pytest.approx(1 if cycles else 0)
    expected, clocks = plain.alignment(both.plain), alignment(both.trace)
    assert clocks.is_aligned == (expected is not None)
    if expected is not None:
        assert dict(clocks.offsets) == expected[0]
        assert clocks.clock_mhz == pytest.approx(expected[1])
    if both.plain.occupancy:
        engines = occupancy(both.trace, gpu="gfx950" if both.plain.gfxip == 9 else "gfx1201").engines
        assert max(engines["waves_per_simd_max"].to_list(), default=0) == plain.residency(both.plain)
        means = dict(engines.select("se", "waves_per_simd_mean").iter_rows())
        assert means == pytest.approx(plain.mean_residency(both.plain))


def check_pipes(both: Both) -> None:
    busy, resident, bubbles = plain.busy_pipes(both.plain)
    found = utilization(both.trace)
    pipes = both.columns(found.pipes.filter(pl.col("issue_cycles_total") > 0), "pipe", "issue_cycles_total")
    assert pipes == {pipe: (cycles,) for pipe, cycles in busy.items()}
    sums = [int(found.bubbles[f"{name}_cycles_total"].sum()) for name in ("resident", "bubble")]
    assert sums == [resident, bubbles]


def check_loops(both: Both) -> None:
    for row in loops(both.trace).loops.iter_rows(named=True):
        rows = (row["first_row"], row["last_row"], row["start_row"])
        expected = plain.loop(both.plain, *rows)
        assert [row[name] for name in LOOP] == [pytest.approx(value) if value else value for value in expected]
        inside = [sums for number, sums in both.totals.items() if rows[0] <= number <= rows[1]]
        assert [row[name] for name in SUMS] == [sum(part) for part in zip(*inside, strict=True)]


def check_producers(both: Both) -> None:
    """Distances, latencies and what ended the waits; only where all producers are certain (gfx9)."""
    edges, samples = plain.producers(both.plain)
    got = {}
    for row in waits(both.trace).producers.filter(pl.col("count") > 0).iter_rows(named=True):
        got[row["row"], row["producer_row"]] = (
            row["count"],
            row["distance_cycles_mean"],
            row["distance_instructions_mean"],
            row["latency_cycles_mean"],
            row["last_count"],
            row["last_stall_cycles_mean"] or 0.0,
        )
    assert got.keys() == edges.keys()
    for key, values in edges.items():
        assert got[key] == pytest.approx(values)
    for row in memory_latency(both.trace).by_row.iter_rows(named=True):
        tight, bounds = samples[row["row"]]
        assert (row["sample_count"], row["tight_count"]) == (len(tight) + len(bounds), len(tight))
        used = tight or bounds
        assert row["latency_cycles_mean"] == pytest.approx(sum(used) / len(used))
        assert (row["latency_cycles_min"], row["latency_cycles_max"]) == (min(used), max(used))


def check_mapping(both: Both) -> None:
    found = mapping(both.trace)
    top, effective, count = plain.line_weights(both.plain)
    assert (found.row_count, found.mapped_row_count, found.line_count) == (
        len(both.plain.code),
        *plain.mapped(both.plain),
    )
    assert found.line_count == count
    assert (found.top_line_share, found.effective_line_count) == pytest.approx((top, effective))


def check(both: Both, *, classes: bool = True) -> None:
    check_totals(both)
    check_waits(both)
    check_stalls(both, classes=classes)
    check_hiding(both)
    check_states(both)
    check_pipes(both)
    check_loops(both)
    check_mapping(both)


@pytest.mark.first_case
@pytest.mark.parametrize("gfxip", [9, 11, 12])
@pytest.mark.parametrize("seed", range(3))
def test_made_directories(gfxip: int, seed: int, tmp_path: Path) -> None:
    folder = make(tmp_path / "made", gfxip, seed, first_cycle=(1000, 1 << 40, 10**13)[seed], ids=seed == 1)
    both = Both(folder)
    assert loops(both.trace).loops.height == 1
    check(both, classes=gfxip == 9)


def unpacked(shared: Path, name: str, folder: Path) -> Path:
    path = shared / FLYDSL / name
    if path.suffix != ".xz":
        return path
    with tarfile.open(path) as archive:
        archive.extractall(folder)  # noqa: S202 (our own reference data)
    return folder / path.name.removesuffix(".tar.xz")


@pytest.mark.first_case
@pytest.mark.parametrize("name", SMALL)
def test_real_directories(name: str, shared: Path, tmp_path: Path) -> None:
    both = Both(unpacked(shared, name, tmp_path))
    check(both)
    check_producers(both)
    files = both.plain
    assert {row[2]: row[6:10] for row in files.code if row[6]} == plain.totals(files)
    for wave in files.waves:
        found = plain.waits_gfx9(wave, files.text)
        rows = [[wave.instructions[wait][4], [[wave.instructions[one][4], 0] for one in some]] for wait, some in found]
        assert rows == wave.waitcnt
    for state, stored in files.states.items():
        assert list(zip(stored["time"], stored["state"], strict=True)) == plain.state_curve(files, state)


@pytest.mark.first_case
@pytest.mark.parametrize("capture", ["c02", "c10", "c13"])
def test_official_decodes(capture: str, shared: Path) -> None:
    for folder in sorted((shared / "data/att-mi300x-bmm" / capture).glob("ui_output_*")):
        both = Both(folder)
        check(both)
        if both.plain.waves:
            check_producers(both)


def _manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "filenames.json").read_text())
    return found


def _half(folder: Path) -> None:
    manifest = _manifest(folder)
    slots = [slots for simds in manifest["wave_filenames"].values() for slots in simds.values()]
    waves = [(waves, number) for some in slots for waves in some.values() for number in waves]
    for own, number in waves[::2]:
        (folder / own.pop(number)[0]).unlink()
    (folder / "filenames.json").write_text(json.dumps(manifest))


def _missing(folder: Path) -> None:
    for path in sorted(folder.glob("se*_wv*.json"))[::2]:
        path.unlink()


def _shuffled(folder: Path) -> None:
    def shuffle(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        pairs = list(value.items())
        random.Random(3).shuffle(pairs)
        return {name: shuffle(inner) for name, inner in pairs}

    for name in ("filenames.json", "occupancy.json", "realtime.json"):
        (folder / name).write_text(json.dumps(shuffle(json.loads((folder / name).read_text()))))


def _second_label(folder: Path) -> None:
    content = json.loads((folder / "code.json").read_text())
    middle = content["code"][len(content["code"]) // 2]
    label = ["; made", 0, middle[2] - 1, "", middle[4], middle[5], 0, 0, 0, 0]
    content["code"].insert(len(content["code"]) // 2, label)
    (folder / "code.json").write_text(json.dumps(content))


def _no_occupancy(folder: Path) -> None:
    (folder / "occupancy.json").unlink()


def _unknown_rows(folder: Path) -> None:
    for number, path in enumerate(sorted(folder.glob("se*_wv*.json"))):
        content = json.loads(path.read_text())
        for instruction in content["wave"]["instructions"][number::7]:
            instruction[4] = (0, 999_999, -5)[number % 3]
        path.write_text(json.dumps(content))


def _new_occupancy(folder: Path) -> None:
    content = json.loads((folder / "occupancy.json").read_text())
    for se in [name for name in content if name.isdigit()]:
        content[se] = [[*event, 1, 2, 1, 5, 0] for event in content[se]]
    (folder / "occupancy.json").write_text(json.dumps(content | {"version": "3.1.0", "events": {}}))


def _nulls(folder: Path) -> None:
    for number, path in enumerate(sorted(folder.glob("se*_wv*.json"))):
        content = json.loads(path.read_text())
        for name in (("timeline",), ("timeline", "instructions"), ())[number % 3]:
            content["wave"][name] = None
        path.write_text(json.dumps(content))


CHANGES = (_half, _missing, _shuffled, _second_label, _no_occupancy, _new_occupancy, _nulls)


@pytest.mark.first_case
@pytest.mark.parametrize(("change", "is_real"), covering(CHANGES, [False, True]))
def test_changed_directories(
    change: Callable[[Path], None], is_real: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_2"
    if is_real:
        shutil.copytree(request.getfixturevalue("shared") / FLYDSL / SMALL[1], folder, copy_function=shutil.copyfile)
        folder.chmod(0o755)
    else:
        make(folder, 9, 5)
    change(folder)
    check(Both(folder))


def test_instructions_without_a_row(tmp_path: Path) -> None:
    """They are in no row, but their stall is not lost, nor taken for hidden."""
    folder = make(tmp_path / "made", 9, 5)
    _unknown_rows(folder)
    both = Both(folder)
    check_totals(both)
    check_hiding(both)
    check_states(both)
    found = stalls(both.trace)
    assert found.stall_cycles_total == sum(
        stall for wave in both.plain.waves for _, _, stall, _, _ in wave.instructions
    )
    unknown = found.by_row.filter(pl.col("row") < 0)
    assert unknown["stall_cycles_total"].sum() > 0
    assert unknown["exposed_stall_cycles_total"].to_list() == unknown["stall_cycles_total"].to_list()
    immediate = sum(
        stall
        for wave in both.plain.waves
        for _, category, stall, _, row in wave.instructions
        if category == 9 and row not in both.place
    )
    waits_of_unknown = unknown.filter(pl.col("class") == "wait unresolved")
    assert waits_of_unknown["stall_cycles_total"].sum() == immediate > 0
    assert diagnose(both.trace).stall_cycles_total == found.stall_cycles_total


def test_equal_and_exchanged_traces(tmp_path: Path) -> None:
    first, second = (Both(make(tmp_path / str(seed), 9, 6, first_cycle=1000 + 400 * seed)) for seed in (0, 1))
    same = compare([first.trace, second.trace])
    assert same.units["delta_cycles_per_wave"].abs().max() == 0
    assert not same.standing_out().height
    _half(tmp_path / "1")
    half = Both(tmp_path / "1")
    forth, back = compare([first.trace, half.trace]), compare([half.trace, first.trace])

    def cost(both: Both) -> float:
        return sum(sums[1] + sums[3] for sums in both.totals.values()) / len(both.plain.waves)

    for found, delta in ((forth, cost(half) - cost(first)), (back, cost(first) - cost(half))):
        assert found.units.filter(pl.col("trace") == 1)["delta_cycles_per_wave"].sum() == pytest.approx(delta)
