"""Scenarios: reproducible, checked, and written to disk as rocprofv3 would."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth import (
    KernelImage,
    Scenario,
    compiled,
    family_of,
    grow,
    repeat_stream,
    synthesize,
    tour,
    write_capture,
)
from wavewright.errors import UsageError
from wavewright.readers.files.capture import find_capture

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_scenarios_give_equal_bytes(family: str) -> None:
    first, second = (synthesize(Scenario(family=family, seed=5)).traces[0] for _ in range(2))
    other = synthesize(Scenario(family=family, seed=6)).traces[0]
    assert first.data == second.data
    assert first.truth == second.truth
    assert first.data != other.data


@pytest.mark.parametrize(
    "wrong",
    [
        {"family": "gfx8"},
        {"stream_version": 3},
        {"waves_per_simd": 11},
        {"waves_per_simd": 0},
        {"waves_per_workgroup": 17},
        {"dispatches": 0},
        {"target_cu": 16},
        {"target_simd": 4},
        {"keep_share": 1.5},
        {"kernels": (tour("gfx1100"),)},
    ],
)
def test_what_does_not_fit_together_is_a_usage_error(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Scenario(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ask", [lambda: tour("gfx803"), lambda: compiled("nothing", "gfx942"), lambda: family_of("gfx803")]
)
def test_unknown_kernels_and_targets_are_usage_errors(ask: object) -> None:
    with pytest.raises(UsageError):
        ask()  # type: ignore[operator]


def test_an_entry_must_be_aligned() -> None:
    with pytest.raises(UsageError, match="multiple of 256"):
        KernelImage("odd", "gfx942", b"4\t4\ts_endpgm\n", 4)


def test_an_instruction_of_another_family_is_a_usage_error() -> None:
    scaled = b"256\t16\tv_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3]\n272\t4\ts_endpgm\n"
    with pytest.raises(UsageError, match="has no token"):
        synthesize(Scenario(family="gfx12", kernels=(KernelImage("matrix", "gfx1201", scaled, 256),)))


def test_a_capture_folder_is_found_again(tmp_path: Path) -> None:
    capture = synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"), tour("gfx942")), shader_engines=2))
    files = write_capture(capture, tmp_path / "new" / "folder", dispatch=3)
    assert sorted(path.name for path in files) == [
        "4711_1_shader_engine_0_3.att",
        "4711_1_shader_engine_1_3.att",
        "4711_gfx942_code_object_id_1.isa.tsv",
        "4711_gfx942_code_object_id_1.out",
        "4711_gfx942_code_object_id_2.isa.tsv",
    ]
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == {path.name for path in files}
    found = find_capture([tmp_path / "new" / "folder"])
    assert [(file.se, file.dispatch) for window in found.windows for file in window.files] == [(0, 3), (1, 3)]
    assert sorted(file.id for file in found.code_objects) == [1, 2]
    assert [trace.data for trace in capture.traces] == [path.read_bytes() for path in files[-2:]]


def test_writing_leaves_no_unfinished_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_capture(synthesize(Scenario()), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_growing_to_a_size(family: str) -> None:
    trace = synthesize(Scenario(family=family)).traces[0]
    grown = grow(trace, 300_000)
    window = trace.windows[1] - trace.windows[0]
    assert 300_000 <= len(grown.data) < 300_000 + window
    assert grow(trace, 0).data == trace.data


def test_what_cannot_grow() -> None:
    trace = synthesize(Scenario()).traces[0]
    cut = synthesize(Scenario(keep_share=0.5)).traces[0]
    for ask in (
        lambda: grow(trace),
        lambda: grow(trace, 5, factor=2),
        lambda: grow(trace, factor=0),
        lambda: grow(cut, factor=2),
    ):
        with pytest.raises(UsageError):
            ask()


def test_repeating_a_foreign_gfx9_stream_drops_its_cut_token() -> None:
    trace = synthesize(Scenario()).traces[0]
    cut = trace.data[:-1]
    repeated = repeat_stream(cut, 3)
    assert repeated[:8] == trace.data[:8]
    body = len(trace.data) - 8 - 2  # the last token, two bytes of padding, is not whole
    assert len(repeated) == 8 + 3 * body


def test_repeating_an_rdna_stream_is_concatenation() -> None:
    data = synthesize(Scenario(family="gfx12")).traces[0].data
    assert repeat_stream(data, 3) == data * 3
