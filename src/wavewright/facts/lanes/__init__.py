"""Rules by which LDS and the vector L1 cache serve lanes, declared in TOML with evidence; the rest is refused.

`lds_rule("gfx942", "read", 16)` and `coalescing_rule("gfx942")` answer from the rules that come with wavewright, a
`LaneRules` of `read_lane_rules(file)` from those of the user over them.
"""

from wavewright.facts.lanes.accesses import LdsAccess as LdsAccess
from wavewright.facts.lanes.accesses import lds_access as lds_access
from wavewright.facts.lanes.rule_facts import CONFIDENCES as CONFIDENCES
from wavewright.facts.lanes.rule_facts import CoalescingRuleFact as CoalescingRuleFact
from wavewright.facts.lanes.rule_facts import LaneRules as LaneRules
from wavewright.facts.lanes.rule_facts import LdsRuleFact as LdsRuleFact
from wavewright.facts.lanes.rule_facts import Refusal as Refusal
from wavewright.facts.lanes.rules import coalescing_rule as coalescing_rule
from wavewright.facts.lanes.rules import lane_rules as lane_rules
from wavewright.facts.lanes.rules import lds_rule as lds_rule
from wavewright.facts.lanes.rules import read_lane_rules as read_lane_rules
