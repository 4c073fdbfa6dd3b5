from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.kit.together import together
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.lanes import (
    CONFIDENCES,
    CoalescingRuleFact,
    LdsRuleFact,
    Refusal,
    coalescing_rule,
    lane_rules,
    lds_access,
    lds_rule,
    read_lane_rules,
)

if TYPE_CHECKING:
    from pathlib import Path

_LDS = """
[[lds]]
targets = ["gfx1151"]
operations = ["read", "write"]
width = "b64"
banks = 32
phases = ["0-15", "16-31"]
confidence = "hypothesis"
evidence = "Tried on a laptop."
source = "own probe"
"""
_COALESCING = """
[[coalescing]]
targets = ["gfx1151"]
group_lanes = 32
segment_bytes = 128
counter = "GL0C_REQ"
confidence = "hypothesis"
evidence = "Tried on a laptop."
source = "own probe"
accesses_per_cycle = 1
rate_confidence = "hypothesis"
rate_evidence = "Tried as well."
"""


def _rule(target: str, operation: str, width_bytes: int) -> LdsRuleFact:
    rule = lds_rule(target, operation, width_bytes)
    assert isinstance(rule, LdsRuleFact), rule
    return rule


def _reason(answer: object) -> str:
    assert isinstance(answer, Refusal), answer
    return answer.reason


@together("rule", lane_rules().lds.values())
def test_rules_fit_their_targets(rule: LdsRuleFact) -> None:
    assert rule.wave_size in gpus.of(rule.target).wave_sizes
    # All banks are busy in every phase of neighbours, except that lanes of 12 bytes leave some idle.
    lanes = {phase.bit_count() for phase in rule.phases}
    assert len(lanes) == 1
    assert rule.width_bytes == 12 or lanes.pop() * rule.width_dwords == rule.banks
    assert rule.operation in ("read", "write", "atomic")
    assert rule.confidence in CONFIDENCES
    assert rule.evidence.endswith(".")


def test_rules_are_the_researched_ones(shared: Path) -> None:
    file = shared / "data" / "lane-addresses" / "lds_phases.json"
    if not file.exists():
        pytest.skip("../shared has no lane-addresses")
    researched: dict[str, Any] = json.loads(file.read_text())
    expected = {}
    for target, facts in researched.items():
        for operation in ("read", "write") if isinstance(facts, dict) else ():
            for width, rule in facts.get(operation, {}).items():
                if rule is None:
                    continue
                banks, phases = (rule["banks"], rule["phases"]) if isinstance(rule, dict) else (facts["banks"], rule)
                masks = frozenset(sum(1 << lane for lane in phase) for phase in phases)
                expected[target, operation, int(width[1:]) // 8] = (banks, masks)
    assert {key: (rule.banks, frozenset(rule.phases)) for key, rule in lane_rules().lds.items()} == expected


def test_what_is_doubtful_is_called_a_hypothesis() -> None:
    assert _rule("gfx942", "read", 8).confidence == "counter-proven"
    assert _rule("gfx942", "write", 16).confidence == "published"
    for operation, width_bytes in (("read", 4), ("write", 4), ("write", 16)):
        assert _rule("gfx950", operation, width_bytes).confidence == "hypothesis"
    assert {rule.confidence for rule in lane_rules().lds.values() if rule.target == "gfx908"} == {"hypothesis"}


def test_narrow_accesses_follow_dwords_as_a_hypothesis() -> None:
    for width_bytes in (1, 2):
        rule = _rule("gfx942", "read", width_bytes)
        assert (rule.width_dwords, rule.alignment_bytes, rule.confidence) == (1, width_bytes, "hypothesis")
        assert rule.phases == _rule("gfx942", "read", 4).phases


def test_alignment_is_the_width_up_to_a_power_of_two() -> None:
    alignments = [_rule("gfx950", "read", width_bytes).alignment_bytes for width_bytes in (4, 8, 12, 16)]
    assert alignments == [4, 8, 16, 16]


@together(
    "target, operation, width_bytes, reason",
    [
        ("gfx1250", "read", 4, "no LDS rule is known for gfx1250"),
        ("gfx1101", "read", 4, "no LDS rule is known for gfx1101"),
        ("gfx1100", "write", 4, "no rule is known for LDS writes of b32 on gfx1100"),
        ("gfx1100", "write", 1, "no rule is known for LDS writes of b8 on gfx1100"),
        ("gfx942", "read", 12, "no rule is known for LDS reads of b96 on gfx942"),
        ("gfx942", "atomic", 4, "no rule is known for LDS atomics of b32 on gfx942"),
        ("", "read", 4, "no LDS rule is known for an unnamed target"),
    ],
)
def test_what_is_not_declared_is_refused(target: str, operation: str, width_bytes: int, reason: str) -> None:
    assert _reason(lds_rule(target, operation, width_bytes)) == reason


def test_rules_are_about_waves_of_a_size() -> None:
    assert isinstance(lds_rule("gfx1100", "read", 4, wave_size=32), LdsRuleFact)
    assert _reason(lds_rule("gfx1100", "read", 4, wave_size=64)) == (
        "the rule for LDS reads on gfx1100 is about waves of 32 lanes"
    )


def test_targets_may_have_features() -> None:
    assert lds_rule("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "read", 4) == lds_rule("gfx942", "read", 4)


def test_coalescing_is_measured_on_one_target() -> None:
    rule = coalescing_rule("gfx942")
    assert isinstance(rule, CoalescingRuleFact)
    assert (rule.group_lanes, rule.segment_bytes, rule.counter) == (16, 64, "TCP_TOTAL_CACHE_ACCESSES")
    assert rule.accesses_per_cycle == 1
    for target, least in (("gfx90a", (16, 64)), ("gfx950", (16, 64)), ("gfx1100", (32, 128)), ("gfx1201", (32, 128))):
        unproven = coalescing_rule(target)
        assert isinstance(unproven, CoalescingRuleFact)
        assert (unproven.group_lanes, unproven.segment_bytes) == least
        assert unproven.confidence == "hypothesis"
        assert unproven.accesses_per_cycle is None
    assert _reason(coalescing_rule("gfx906")) == "no coalescing rule is known for gfx906"


@together(
    "mnemonic, operation, width_bytes, access_count, offset_unit_bytes",
    [
        ("ds_read_b32", "read", 4, 1, 1),
        ("ds_read_u8_d16_hi", "read", 1, 1, 1),
        ("ds_write_b16", "write", 2, 1, 1),
        ("ds_write_b96", "write", 12, 1, 1),
        ("ds_load_b128", "read", 16, 1, 1),
        ("ds_read2_b32", "read", 4, 2, 4),
        ("ds_write2st64_b64", "write", 8, 2, 512),
        ("ds_load_2addr_b64", "read", 8, 2, 8),
        ("ds_store_2addr_stride64_b32", "write", 4, 2, 256),
    ],
)
def test_accesses_of_an_instruction(
    mnemonic: str, operation: str, width_bytes: int, access_count: int, offset_unit_bytes: int
) -> None:
    access = lds_access(mnemonic)
    assert not isinstance(access, Refusal)
    assert (access.operation, access.width_bytes) == (operation, width_bytes)
    assert (access.access_count, access.offset_unit_bytes) == (access_count, offset_unit_bytes)


@together(
    "mnemonic, why",
    [
        ("ds_add_u32", "neither a plain read nor a plain write"),
        ("ds_read_addtid_b32", "neither"),
        ("ds_readst64_b32", "neither"),
        ("ds_read_b24", "neither"),
        ("ds_read_b64_tr_b16", "transposing"),
        ("ds_load_tr16_b128", "transposing"),
        ("ds_bpermute_b32", "uses no address"),
        ("buffer_load_dword", "neither"),
    ],
)
def test_instructions_without_a_rule(mnemonic: str, why: str) -> None:
    assert why in _reason(lds_access(mnemonic))


def test_rules_of_users_come_first(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(_LDS + _COALESCING + _LDS.replace("gfx1151", "gfx1100"))
    rules = read_lane_rules(file)
    rule = rules.lds_rule("gfx1151", "write", 8, wave_size=32)
    assert isinstance(rule, LdsRuleFact)
    assert (rule.phases, rule.source) == ((0xFFFF, 0xFFFF0000), "own probe")
    assert isinstance(rules.coalescing_rule("gfx1151"), CoalescingRuleFact)
    changed = rules.lds_rule("gfx1100", "read", 8)
    assert isinstance(changed, LdsRuleFact)
    assert changed.source == "own probe"
    assert rules.lds_rule("gfx942", "read", 16) == lds_rule("gfx942", "read", 16)
    assert _reason(lds_rule("gfx1151", "read", 8)) == "no LDS rule is known for gfx1151"


def test_a_rate_may_be_missing_but_not_a_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(_COALESCING[: _COALESCING.index("accesses_per_cycle")])
    rule = read_lane_rules(file).coalescing_rule("gfx1151")
    assert isinstance(rule, CoalescingRuleFact)
    assert rule.accesses_per_cycle is None
    file.write_text(_COALESCING[: _COALESCING.index("rate_evidence")])
    with pytest.raises(UsageError, match="has no `rate_evidence`"):
        read_lane_rules(file)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"0-15", "16-31"', '"0-15", "15-31"', "lane 15 is in it twice"),
        ('"0-15", "16-31"', '"0-15", "0-15"', "lane 0 is in it twice"),
        ('"0-15", "16-31"', '"0-31", "32-64"', "no such lanes: '32-64'"),
        ('"0-15", "16-31"', '"15-0"', "no such lanes: '15-0'"),
        ('"0-15", "16-31"', '"0-15", "17-31"', "lane 16 is in no phase"),
        ('"0-15", "16-31"', '"0-32"', "lane 33 is in no phase"),
        ('"0-15", "16-31"', '"0-15", ""', "a phase without lanes"),
        ('"0-15", "16-31"', '"0-15", "x"', "not lanes: 'x'"),
        ('["0-15", "16-31"]', "[[0, 1]]", "phases[0]: expected `str`, got `array`"),
        ('["0-15", "16-31"]', "[]", "phases: expected `array` of length >= 1"),
        ('["0-15", "16-31"]', '"thirds"', "no phases are called 'thirds'"),
        ("banks = 32", "banks = 0", "banks: no such value: 0"),
        ("banks = 32", "banks = 24", "banks: no such value: 24"),
        ("banks = 32", "banks = 256", "banks: no such value: 256"),
        ("banks = 32", "banks = true", "banks: expected `int`, got `bool`"),
        ("banks = 32", "banks = 32.0", "banks: expected `int`, got `float`"),
        ("banks = 32", "", "has no `banks`"),
        ('evidence = "Tried on a laptop."', "", "has no `evidence`"),
        ('evidence = "Tried on a laptop."', 'evidence = " "', "evidence is empty"),
        ('evidence = "Tried on a laptop."', f'evidence = "{"x" * 2001}"', "evidence is longer than 2,000"),
        ('evidence = "Tried on a laptop."', 'evidence = "\\u001b[2J"', "evidence is longer"),
        ('source = "own probe"', "", "has no `source`"),
        ('"hypothesis"', '"sure"', "confidence: no such value: 'sure'"),
        ('"b64"', '"b63"', "width: no such value: 'b63'"),
        ('"b64"', "8", "width: expected `str`, got `int`"),
        ('["read", "write"]', '["peek"]', "operations[0]: no such value: 'peek'"),
        ('["read", "write"]', '["read", "read"]', "a second rule for gfx1151 read b64"),
        ('["gfx1151"]', '["MI300X"]', "targets[0]: expected `str` matching regex"),
        ('["gfx1151"]', "[]", "targets: expected `array` of length >= 1"),
        ("banks = 32", "banks = 32\nbonks = 3", "unknown key `bonks`"),
        ("[[lds]]", "[lds]", "lds: expected `array`, got `object`"),
        ("[[lds]]", "phases = 3\n[[lds]]", "phases: expected `object`, got `int`"),
        ("[[lds]]", "[extra]\n[[lds]]", "unknown key `extra`"),
        ('"own probe"', '"own pro', "is not TOML"),
    ],
)
def test_nonsense_is_refused_with_its_place(tmp_path: Path, old: str, new: str, what: str) -> None:
    file = tmp_path / "rules.toml"
    assert old in _LDS
    file.write_text(_LDS.replace(old, new))
    with pytest.raises(UsageError) as error:
        read_lane_rules(file)
    assert what in error.value.what
    assert error.value.where.startswith(str(file))
    assert error.value.advice


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("group_lanes = 32", "group_lanes = 0", "group_lanes: no such value: 0"),
        ("group_lanes = 32", "group_lanes = 128", "group_lanes: no such value: 128"),
        ("segment_bytes = 128", "segment_bytes = 96", "segment_bytes: no such value: 96"),
        ("accesses_per_cycle = 1", "accesses_per_cycle = 0", "accesses_per_cycle: expected `float` > 0.0"),
        ("accesses_per_cycle = 1", "accesses_per_cycle = nan", "accesses_per_cycle: expected `float` > 0.0"),
        (
            "accesses_per_cycle = 1",
            "accesses_per_cycle = true",
            "accesses_per_cycle: expected `float | null`, got `bool`",
        ),
        ('rate_confidence = "hypothesis"', 'rate_confidence = "?"', "rate_confidence: no such value: '?'"),
        ('["gfx1151"]', '["gfx1151", "gfx1151"]', "a second coalescing rule for gfx1151"),
    ],
)
def test_coalescing_nonsense_is_refused_with_its_place(tmp_path: Path, old: str, new: str, what: str) -> None:
    file = tmp_path / "rules.toml"
    assert old in _COALESCING
    file.write_text(_COALESCING.replace(old, new))
    with pytest.raises(UsageError) as error:
        read_lane_rules(file)
    assert what in error.value.what
    assert error.value.where == f"{file}, coalescing rule 1"
    assert error.value.advice


@pytest.mark.parametrize("end", range(1, len(_LDS.rstrip()), 7))
def test_cut_files_are_refused(tmp_path: Path, end: int) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(_LDS.rstrip()[:end])
    with pytest.raises(UsageError):
        read_lane_rules(file)


def test_files_that_are_no_files_of_rules(tmp_path: Path) -> None:
    huge, binary, empty, pipe = (tmp_path / name for name in ("huge", "binary", "empty", "pipe"))
    huge.write_text("#" * 1_100_000)
    binary.write_bytes(b"\xff\xfe\x00")
    empty.write_text("")
    os.mkfifo(pipe)
    for file, what in (
        (huge, "more than 1,048,576 bytes"),
        (binary, "is not TOML"),
        (empty, "holds neither"),
        (pipe, "cannot be read: not a regular file"),
        (tmp_path, "cannot be read: not a regular file"),
        (tmp_path / "none", "cannot be read: No such file or directory"),
    ):
        with pytest.raises(UsageError) as error:
            read_lane_rules(file)
        assert what in error.value.what
        assert error.value.where == str(file)
        assert error.value.advice
    dotted = tmp_path / "dotted"
    dotted.write_text(".".join("a" * 100_000)[:150_000] + " = 1")
    with pytest.raises(UsageError, match="a key of more than 64 parts"):
        read_lane_rules(dotted)
