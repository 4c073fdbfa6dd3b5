"""Matching of instruction sequences: what must hold for any, and what edits do to long ones."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from wavewright.analysis.trace.compare.sequences import align, moved, shape_of

texts = st.sampled_from(
    [
        "v_mov_b32_e32 v1, 0",
        "v_mov_b32_e32 v2, 0",
        "v_add_f32_e32 v1, v2, v3",
        "s_waitcnt vmcnt(0)",
        "s_waitcnt vmcnt(4)",
        "s_barrier",
    ]
)
codes = st.lists(texts, max_size=60)


def longest_common(left: list[str], right: list[str]) -> int:
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for at in reversed(range(len(left))):
        for to in reversed(range(len(right))):
            same = left[at] == right[to]
            best[at][to] = best[at + 1][to + 1] + 1 if same else max(best[at + 1][to], best[at][to + 1])
    return best[0][0]


def mnemonics(code: list[str]) -> list[str]:
    return [re.sub(r"\d+", "#", text) if "waitcnt" in text else text.split()[0] for text in code]


@given(codes)
def test_the_same_code_matches_fully(code: list[str]) -> None:
    assert align(code, code) == [(at, at) for at in range(len(code))]


@given(codes, codes)
def test_pairs_grow_and_have_the_same_mnemonic(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    assert all(a < b and c < d for (a, c), (b, d) in pairwise(pairs))
    kinds = mnemonics(left), mnemonics(right)
    assert all(kinds[0][at] == kinds[1][to] for at, to in pairs)
    assert sorted({at for at, _ in pairs}) == [at for at, _ in pairs]


@given(codes, codes)
def test_short_sequences_are_matched_well(left: list[str], right: list[str]) -> None:
    """At least as many pairs as there are equal texts in a common subsequence, short of a few that anchors prevent."""
    assert len(align(left, right)) >= longest_common(left, right) * 0.7 - 1


@given(codes, codes)
def test_both_directions_find_as_much(left: list[str], right: list[str]) -> None:
    there, back = len(align(left, right)), len(align(right, left))
    assert abs(there - back) <= 0.3 * max(there, back) + 2


@given(codes, st.integers(0, 60), st.lists(st.just("s_sleep 7"), min_size=1, max_size=5))
def test_an_insertion_only_shifts(code: list[str], place: int, new: list[str]) -> None:
    at = min(place, len(code))
    changed = code[:at] + new + code[at:]
    pairs = align(code, changed)
    assert len(pairs) == len(code)
    assert all(code[one] == changed[other] for one, other in pairs)
    assert [(other, one) for one, other in align(changed, code)] == pairs or len(align(changed, code)) == len(code)


@pytest.mark.slow
@given(codes, codes)
def test_moved_pairs_are_new_and_unique(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    more = moved(left, right, pairs)
    both = [*pairs, *more]
    assert len({at for at, _ in both}) == len({to for _, to in both}) == len(both)


def random_code(count: int, seed: int = 1) -> list[str]:
    choose = random.Random(seed)
    words = ["v_add_f32_e32", "v_mul_f32_e32", "v_fma_f32", "global_load_dwordx4", "ds_read_b128", "s_nop"]
    return [f"{choose.choice(words)} v{choose.randrange(64)}, v{choose.randrange(64)}" for _ in range(count)]


@pytest.mark.parametrize("count", [300, 5000])
def test_edits_in_long_code(count: int) -> None:
    choose = random.Random(2)
    code = random_code(count)
    kept = sorted(choose.sample(range(count), count - count // 20))
    changed: list[str] = []
    expected = []
    for at in kept:
        if choose.random() < 0.05:
            changed.append("s_sleep 1")
        expected.append((at, len(changed)))
        changed.append(code[at])
    assert len(set(align(code, changed)) & set(expected)) > 0.98 * len(expected)


def test_other_registers_do_not_matter() -> None:
    code = random_code(2000)
    renamed = [re.sub(r"v(\d+)", lambda found: f"v{int(found[1]) + 64}", text) for text in code]
    assert align(code, renamed) == [(at, at) for at in range(2000)]


def test_a_moved_block_is_found() -> None:
    code = random_code(400)
    changed = code[:100] + code[250:300] + code[100:250] + code[300:]
    pairs = align(code, changed)
    assert {*pairs, *moved(code, changed, pairs)} >= {(at, at - 150) for at in range(250, 300)}


def test_reordered_instructions_are_found() -> None:
    code = random_code(100)
    changed = code[:40] + code[60:39:-1] + code[61:]
    pairs = align(code, changed)
    both = {*pairs, *moved(code, changed, pairs)}
    assert len(both) >= 99
    assert all(mnemonics(code)[at] == mnemonics(changed)[to] for at, to in both)


@pytest.mark.parametrize("count", [2000])
def test_worst_cases_end(count: int) -> None:
    """Nothing unique, everything the same, and nothing in common: no quadratic search."""
    choose = random.Random(3)
    left, right = ([choose.choice(["s_nop 0", "v_nop"]) for _ in range(count)] for _ in range(2))
    assert len(align(left, right)) > count / 2
    assert len(align(["s_nop 0"] * count, ["s_nop 0"] * (count - 100))) == count - 100
    assert align(["s_nop 0"] * count, ["v_nop"] * count) == []
    shuffled = random_code(count)
    choose.shuffle(shuffled)
    assert align(random_code(count), shuffled)


@settings(max_examples=examples(200))
@given(st.text(max_size=40))
def test_shapes_of_any_text(text: str) -> None:
    assert isinstance(shape_of(text), str)


def test_endless_texts_are_folded_all_the_same() -> None:
    for text in ("v[0:" + "9" * 5000 + "]", "v" * 100_000, "0x" + "f" * 100_000 + "g", "s_" * 50_000):
        assert shape_of(f"v_mov_b32 {text}").startswith("v_mov_b32 ")
    assert align(["s_nop " + "9" * 5000], ["s_nop " + "8" * 5000]) == [(0, 0)]


def test_shapes() -> None:
    assert shape_of("s_waitcnt vmcnt(3)") == "s_waitcnt vmcnt(3)"
    assert (
        shape_of("v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], 0") == "v_mfma_f32_16x16x16_f16 a[4], v[2], v[2], #"
    )
    assert shape_of("s_cbranch_scc0 65433") == shape_of("s_cbranch_scc0 65438")
