"""Facts that are joined by name with functions, constants and other facts: both sides are complete."""

from wavewright.analysis.counters.l2.verdict import HEALTHY_FROM, SATURATED_FROM, SCATTERED_FROM
from wavewright.analysis.trace.diagnose.remedies import CONDITIONS, GROUPS
from wavewright.analysis.trace.diagnose.replay import GAPS
from wavewright.facts.counters.limiters import CORE, LIMITER_RULES, QUANTITIES
from wavewright.facts.loader import packaged
from wavewright.facts.run_rules import OF_LAUNCHES, OWNERS, RULES
from wavewright.facts.stall_classes import BUSY_OF, CLASSES, GAP_WORDS, stall_remedies


def test_every_condition_of_a_remedy_is_a_function_and_every_function_is_used():
    remedies = stall_remedies()
    assert set(remedies) == set(GROUPS)
    assert {remedy.fits for group in remedies.values() for remedy in group} == set(CONDITIONS)


def test_busy_classes_exist():
    assert set(BUSY_OF.values()) <= set(CLASSES)


def test_every_cause_of_gaps_has_words():
    causes = set(GAPS) - {"none"}
    assert causes <= set(GAP_WORDS)
    assert all(set(name.split(" and ")) <= causes for name in GAP_WORDS)


def test_limiter_rules_name_quantities_and_reasons_that_exist():
    parts = ("decides", "instead", "only_if", "one_of", "signs")
    thresholds = [each for rule in LIMITER_RULES.values() for part in parts for each in getattr(rule, part)]
    assert {each.quantity for each in thresholds} <= set(QUANTITIES)
    assert {each.why for each in thresholds} == set(packaged("counters/limiters.toml")["reasons"])
    named = {name for rule in LIMITER_RULES.values() for name in (*rule.shows, rule.gain_part, rule.gain_rest) if name}
    assert named <= set(QUANTITIES)
    assert set(CORE) <= set(LIMITER_RULES)


def test_limiters_and_l2_judge_memory_alike():
    (streaming,) = LIMITER_RULES["memory bandwidth"].decides
    assert (streaming.likely, streaming.strong) == (100 * HEALTHY_FROM, 100 * SATURATED_FROM)
    scattered = LIMITER_RULES["scattered reads"]
    assert scattered.decides[0].likely == 100 * SCATTERED_FROM
    assert (scattered.one_of[0].likely, scattered.one_of[0].strong) == (100 * HEALTHY_FROM, 100 * SATURATED_FROM)


def test_orders_of_run_rules_name_rules():
    assert set(OWNERS) | set(OF_LAUNCHES) <= set(RULES)
